"""`pinui profile`: the services to pin to, and their tokens."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pinui.cli.errors import VerbError
from pinui.figures import be, plural
from pinui.workspace.errors import UnknownProfile
from pinui.workspace.models import Credential, Profile, ProviderName
from pinui.workspace.paths import Paths
from pinui.workspace.profiles import BUILT_IN, Profiles, check_name, check_url

if TYPE_CHECKING:
    from argparse import Namespace

    from pinui.cli.console import Console
    from pinui.sdk.secret import Secret
    from pinui.workspace import Workspace

__all__ = ["profile"]

LOCAL = "local"


def profile(options: Namespace, console: Console) -> int:
    """Do what the word behind `profile` says; without one, list."""
    profiles = Profiles(Paths.find().config, chosen=options.profile)
    if options.part == "add":
        return _add(options, console, profiles)
    if options.part == "use":
        profiles.use(options.name)
        console.say(f"From now on pinui uses “{options.name}”.")
        if (winning := os.environ.get("PINUI_PROFILE")) and winning != options.name:
            console.say(f"In this shell PINUI_PROFILE still chooses “{winning}”.")
        if console.as_json:
            console.out_json(_object(profiles.get(options.name), is_current=True))
        return 0
    if options.part == "remove":
        return _remove(options, console, profiles)
    return _list(console, profiles)


def _list(console: Console, profiles: Profiles) -> int:
    current = profiles.current
    known = profiles.list()
    if current.name not in [one.name for one in known]:
        known.append(current)
    for one in known:
        is_current = one.name == current.name
        shown = current if is_current else one
        if console.as_json:
            console.out_json(_object(shown, is_current=is_current))
        elif console.data_on_terminal:
            where = "the node on this machine" if shown.preset == "local" else shown.api_url or ""
            console.out(f"{'*' if is_current else ' '} {shown.name:<16} {where}")
        else:
            mark = "current" if is_current else ""
            console.row(shown.name, shown.preset, shown.api_url or "", shown.gateway_url or "", mark)
    return 0


def _object(profile: Profile, *, is_current: bool, **more: Any) -> dict[str, Any]:
    """A profile for a script."""
    factors = {"replicationMin": profile.replication_min, "replicationMax": profile.replication_max}
    return {
        "name": profile.name,
        "preset": profile.preset,
        "provider": profile.provider,
        "apiUrl": profile.api_url,
        "gatewayUrl": profile.gateway_url,
        **(factors if profile.traits.replicates else {}),
        "current": is_current,
        **more,
    }


def _add(options: Namespace, console: Console, profiles: Profiles) -> int:
    from pinui.cli.running import run
    from pinui.workspace.credentials import ending, variable_of

    draft = _draft(options, profiles)
    what = "Token" if draft.traits.is_account else "Token or user:password"
    optional = "" if draft.traits.needs_token else "; empty for none"
    secret = _read_secret(f"{what} for {draft.name}{optional}", "token", is_needed=draft.traits.needs_token)
    key = _read_secret("Key of the gateway", "gateway key") if options.gateway_key else None
    if not draft.gateway_url and not draft.traits.reads_without_gateway:
        console.say("Without --gateway-url nothing can be read back, only written.")

    async def work(workspace: Workspace) -> Credential:
        if not options.no_test:
            console.hint(f"Testing {'the token at ' if secret else ''}{draft.api_url} …")
            result = await workspace.test(draft, secret)
            if result.error is not None:
                from pinui.workspace.sentences import sentence_for

                sentence, hint = sentence_for(result.error)
                advice = f"{hint} " if hint else ""
                raise VerbError(
                    f"The test failed, so nothing was saved: {sentence}",
                    hint=f"{advice}(--no-test saves it anyway.)",
                )
        profiles.save(draft)
        console.say(f"The profile “{draft.name}” is saved in {profiles.path}.")
        kept = Credential(None, "none")
        if secret:
            if (await workspace.credentials.keyring_state()).working:
                console.hint("Putting its token into the keyring, which may ask you to unlock it …")
            kept = await workspace.keep_token(draft, secret)
            await _say_where(workspace, console, "token", kept)
        if key is not None:
            await _say_where(
                workspace, console, "gateway key", await workspace.credentials.save_gateway_key(draft.name, key)
            )
        if sentence := ending(kept.expires_at):
            console.say(sentence)
        return kept

    options.profile = LOCAL  # the draft counts, not the current profile, which may be missing
    kept = run(options, console, work)
    winning = [name for name in (variable_of(draft.name), "PINUI_TOKEN") if os.environ.get(name)]
    if kept.origin == "keyring" and winning:
        console.say(f"{winning[0]} is set here and wins over it.")
    is_current = profiles.default == draft.name
    if not is_current:
        console.hint(f"To use it from now on: pinui profile use {draft.name}")
    if console.as_json:
        console.out_json(_object(draft, is_current=is_current, tokenSaved=kept.origin == "keyring"))
    return 0


def _draft(options: Namespace, profiles: Profiles) -> Profile:
    """The profile as it will be saved: the existing one, changed by the options."""
    if options.name == LOCAL:
        raise VerbError("The profile “local” is the node on this machine and needs no set-up.")
    check_name(options.name)
    try:
        draft = profiles.get(options.name)
    except UnknownProfile:
        draft = replace(BUILT_IN["pinata"], name=options.name)
        if options.api_url:
            draft = Profile(options.name, "custom")
    if options.provider and options.provider != draft.provider:
        draft = _of_provider(options.name, options.provider, is_here=not options.api_url)
    elif not options.api_url:
        from pinui.workspace.daemons import found_again

        draft = found_again(draft)
    if options.api_url:
        url = check_url(options.api_url, what="--api-url")
        draft = replace(draft, api_url=url, preset=draft.preset if url == draft.api_url else "custom")
        if draft.preset == "custom" and draft.dialect == "pinata" and not options.dialect:
            draft = replace(draft, dialect=None)
    if options.gateway_url:
        first, *others = [check_url(url, what="--gateway-url") for url in options.gateway_url]
        draft = replace(draft, gateway_url=first, gateways=tuple(others))
    if options.dialect:
        draft = replace(draft, dialect=options.dialect)
    draft = _with_replication(draft, options)
    return replace(draft, gateway_key=draft.gateway_key or options.gateway_key)


def _with_replication(draft: Profile, options: Namespace) -> Profile:
    from pinui.sdk.models import check_replication

    if options.replication_min is not None:
        draft = replace(draft, replication_min=options.replication_min)
    if options.replication_max is not None:
        draft = replace(draft, replication_max=options.replication_max)
    try:
        check_replication(draft.provider, draft.replication_min, draft.replication_max)
    except ValueError as error:
        words = str(error).replace("replication_", "--replication-").replace('provider="cluster"', "--provider cluster")
        raise VerbError(f"{words[:1].upper()}{words[1:]}.") from None
    return draft


def _of_provider(name: str, provider: ProviderName, *, is_here: bool) -> Profile:
    """A profile for another kind of service; `is_here`: with the addresses of a daemon on this machine."""
    from pinui.workspace.daemons import daemon_addresses

    api_url, gateway_url = daemon_addresses(provider) if is_here else (None, None)
    if is_here and api_url is None:
        raise VerbError("The address of the service is missing.", hint="Give it with --api-url.")
    return Profile(name, "custom", api_url, gateway_url, provider=provider)


async def _say_where(workspace: Workspace, console: Console, what: str, kept: Credential) -> None:
    if kept.origin == "keyring":
        name = (await workspace.credentials.keyring_state()).name
        console.say(f"Its {what} is in the keyring{f' ({name})' if name else ''}.")
    else:
        console.say(f"Its {what} was not saved. {kept.trouble or ''}")


def _read_secret(prompt: str, what: str, *, is_needed: bool = True) -> Secret:
    """A secret from a hidden prompt, or the next line of stdin."""
    from pinui.sdk.secret import Secret
    from pinui.workspace.credentials import tidy

    if sys.stdin.isatty():
        from getpass import getpass

        try:
            text = getpass(f"{prompt} (it is not shown): ")
        except EOFError:
            text = ""
    else:
        text = sys.stdin.readline()
    secret = Secret(tidy(text))
    if not secret and is_needed:
        raise VerbError(f"No {what} was given, so nothing was saved.", hint="Type it at the prompt, or pipe it in.")
    if any(ord(character) < 33 or ord(character) > 126 for character in secret.reveal()):
        raise VerbError(
            f"A {what} has no blanks and no letters beyond ASCII; nothing was saved.", hint="Copy it again."
        )
    return secret


def _remove(options: Namespace, console: Console, profiles: Profiles) -> int:
    from pinui.cli.running import run

    name: str = options.name
    if name in BUILT_IN and profiles.get(name) == BUILT_IN[name]:
        raise VerbError(f"The profile “{name}” is built in and stays.")

    async def work(workspace: Workspace) -> bool:
        left = await workspace.transfers.ledger.left_at(name)
        if not _may_remove(options, console, len(left)):
            return False
        await workspace.remove_profile(name)
        return True

    options.profile = LOCAL  # the current profile may be missing
    if not run(options, console, work):
        return 1
    console.say(f"The profile “{name}” is removed; its rows stay in the history.")
    if console.as_json:
        console.out_json({"removed": name})
    return 0


def _may_remove(options: Namespace, console: Console, left: int) -> bool:
    """Ask about transfers that are not finished at this profile: without it, they can't be."""
    if not left or options.yes:
        return True
    fact = f"{plural(left, 'transfer')} {be(left)} not finished at “{options.name}”."
    them = "it" if left == 1 else "them"
    if sys.stdin.isatty():
        return console.confirm(f"{fact} Remove the profile, and forget {them}?")
    console.fail(fact, f"`pinui transfers resume` finishes {them}; --yes removes the profile and forgets {them}.")
    return False
