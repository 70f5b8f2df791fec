"""Profiles and settings in config.toml."""

from __future__ import annotations

import os
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinui.disk import write_private
from pinui.workspace import ConfigError, Paths, Profile, Profiles, UnknownProfile, WorkspaceError

WORK = Profile(
    "work", "custom", "https://api.example.com", "https://gw.example.com/ipfs", "pin", ("https://b.example",)
)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "made" / "config.toml"


def test_without_any_file_the_local_node_is_current_and_nothing_is_written(config: Path) -> None:
    profiles = Profiles(config)
    assert profiles.current == Profile("local", "local")
    assert [profile.name for profile in profiles.list()] == ["local", "pinata"]
    assert profiles.setting("theme") is None
    assert not config.parent.exists()


def test_a_saved_profile_comes_back_whole_and_can_be_used_and_removed(config: Path) -> None:
    profiles = Profiles(config)
    profiles.save(WORK)
    profiles.use("work")
    assert Profiles(config).current == WORK
    profiles.remove("work")
    assert Profiles(config).current.name == "local"
    with pytest.raises(UnknownProfile, match="no profile “work”"):
        profiles.get("work")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_the_file_and_the_folders_made_for_it_are_the_owners_alone(config: Path) -> None:
    Profiles(config).save(WORK)
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert stat.S_IMODE(config.parent.stat().st_mode) == 0o700
    assert list(config.parent.iterdir()) == [config]


def test_what_the_owner_wrote_in_the_file_stays(config: Path) -> None:
    config.parent.mkdir()
    written = '# my settings\nfuture = "kept"\n\n[settings]\ntheme = "nord" # the best\n\n[profiles.home]\napi_url = "https://h.example"\n'
    config.write_text(written)
    profiles = Profiles(config)
    profiles.save(WORK)
    profiles.set_setting("welcome", True)
    profiles.remove("work")
    text = config.read_text()
    for part in ("# my settings", 'future = "kept"', "# the best", "[profiles.home]"):
        assert part in text
    assert profiles.setting("theme") == "nord"


def test_a_link_to_a_file_elsewhere_stays_a_link(config: Path, tmp_path: Path) -> None:
    config.parent.mkdir()
    (tmp_path / "dotfiles.toml").write_text("")
    config.symlink_to(tmp_path / "dotfiles.toml")
    Profiles(config).use("pinata")
    assert config.is_symlink()
    assert "pinata" in (tmp_path / "dotfiles.toml").read_text()


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("a = 1\nb = = 2\n", 2, "invalid value"),
        ("a = 1\nb = [\n\n", 2, "invalid value"),
        ("profile = 3\n", 1, "a name in quotes"),
        ("\nprofile = 'nobody'\n", 2, "not among the profiles"),
        ("profiles = 3\n", 1, "should be a table"),
        ("[profiles]\nwork = 3\n", 2, "should be a table"),
        ("[profiles.work]\npreset = 'ftp'\n", 2, "one of local, pinata, custom"),
        ("[profiles.work]\n\napi_url = 'ftp://x'\n", 3, "web address"),
        ("[profiles.work]\napi_url = 5\n", 2, "address in quotes"),
        ("[profiles.work]\npreset = 'custom'\n", 1, "“api_url” is missing"),
        ("[profiles.work]\napi_url = 'http://example.com'\n", 2, "https"),
        ("[profiles.work]\napi_url = 'https://x.example'\ndialect = 'klingon'\n", 3, "one of pin, pinata, pinata-v3"),
        ("[profiles.work]\napi_url = 'https://x.example'\ngateways = 'https://y.example'\n", 3, "list of addresses"),
        ("[profiles.work]\napi_url = 'https://x.example'\ngateway_key = 'secret'\n", 3, "true or false"),
        ('[profiles."a b"]\napi_url = "https://x.example"\n', 1, "no name for a profile"),
    ],
)
def test_a_broken_file_is_reported_with_line_and_reason_and_never_overwritten(
    config: Path, text: str, line: int, reason: str
) -> None:
    config.parent.mkdir()
    config.write_text(text)
    profiles = Profiles(config)
    with pytest.raises(ConfigError) as caught:
        _ = profiles.current
    assert f"line {line}" in str(caught.value)
    assert reason in str(caught.value)
    assert str(config) in str(caught.value)
    if "profile =" not in text:
        with pytest.raises(ConfigError):
            profiles.save(WORK)
        assert config.read_text() == text


def test_a_file_that_is_not_text_is_reported_with_its_line(config: Path) -> None:
    config.parent.mkdir()
    config.write_bytes(b"a = 1\nb = '\xff'\n")
    with pytest.raises(ConfigError, match="line 2: this is not UTF-8"):
        Profiles(config).list()


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_a_sentence(text: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config.toml")
        path.write_text(text, encoding="utf-8", errors="replace")
        before = path.read_bytes()
        try:
            Profiles(path).set_setting("theme", "dark")
        except ConfigError:
            assert path.read_bytes() == before
        else:
            assert Profiles(path).setting("theme") == "dark"


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def no_sync(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_sync)
    with pytest.raises(OSError, match="No space"):
        write_private(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["", " ", "a b", "../x", "a/b", "x" * 65, "-x", "environment", "ü"])
def test_a_profile_cannot_have_a_name_that_would_be_trouble(config: Path, name: str) -> None:
    with pytest.raises(WorkspaceError, match="cannot be called"):
        Profiles(config).save(Profile(name, "custom", "https://api.example.com"))


@pytest.mark.parametrize("url", ["", "ftp://pins.example", "http://pins.example"])
def test_an_address_that_could_not_be_read_again_is_not_written(config: Path, url: str) -> None:
    profiles = Profiles(config)
    with pytest.raises(WorkspaceError, match="Gateway URL"):
        profiles.save(Profile("work", "custom", "https://pins.example", url))
    assert not config.exists()


def test_the_built_in_profiles_stay(config: Path) -> None:
    profiles = Profiles(config)
    with pytest.raises(WorkspaceError, match="built in"):
        profiles.remove("pinata")
    with pytest.raises(WorkspaceError, match="embedded node"):
        profiles.save(Profile("local", "custom", "https://api.example.com"))


class TestEnvironment:
    def test_the_chosen_profile_wins_over_the_variable_and_that_over_the_default(
        self, config: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Profiles(config).save(WORK)
        monkeypatch.setenv("PINUI_PROFILE", "pinata")
        assert Profiles(config).current.name == "pinata"
        assert Profiles(config, chosen="work").current.name == "work"

    def test_addresses_win_over_stored_ones(self, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        Profiles(config).save(WORK)
        monkeypatch.setenv("PINUI_API_URL", "http://127.0.0.1:1234/")
        monkeypatch.setenv("PINUI_GATEWAY_URL", "http://localhost:1234/ipfs")
        current = Profiles(config, chosen="work").current
        assert (current.name, current.api_url) == ("work", "http://127.0.0.1:1234")
        assert current.gateway_url == "http://localhost:1234/ipfs"

    def test_an_address_alone_is_a_profile_of_its_own_and_not_the_local_node(
        self, config: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PINUI_API_URL", "http://127.0.0.1:1234")
        assert Profiles(config).current == Profile("environment", "custom", "http://127.0.0.1:1234")

    def test_a_wrong_address_names_its_variable(self, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PINUI_API_URL", "api.example.com")
        with pytest.raises(WorkspaceError, match="PINUI_API_URL"):
            _ = Profiles(config).current

    def test_a_home_of_its_own_has_keyring_entries_of_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        marks = {Paths.find(tmp_path / "a").mark, Paths.find(tmp_path / "b").mark}
        monkeypatch.delenv("PINUI_HOME")
        assert Paths.find().mark == ""
        assert len(marks) == 2

    def test_without_a_home_things_are_where_the_system_wants_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import platformdirs

        monkeypatch.delenv("PINUI_HOME")
        for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        folders = platformdirs.PlatformDirs("pinui", appauthor=False)
        assert Paths.find().config.parent == Path(folders.user_config_dir)
        assert Paths.find().history.parent == Path(folders.user_data_dir)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "elsewhere"))
        assert Paths.find().config.parent == Path(folders.user_config_dir)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot lock a folder")
def test_changes_at_the_same_time_are_all_kept(config: Path) -> None:
    def change(writer: int) -> None:
        for number in range(10):
            Profiles(config).set_setting(f"setting-{writer}-{number}", number)

    with ThreadPoolExecutor(4) as writers:
        list(writers.map(change, range(4)))
    profiles = Profiles(config)
    kept = [profiles.setting(f"setting-{writer}-{number}") for writer in range(4) for number in range(10)]
    assert kept == list(range(10)) * 4


def test_without_a_home_folder_what_to_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_path: object) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("PINUI_HOME")
    monkeypatch.setattr(Path, "expanduser", unknown)
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(WorkspaceError, match="no home folder") as caught:
        Paths.find()
    assert "PINUI_HOME" in (caught.value.hint or "")
