"""Examples for the help of each verb."""

from __future__ import annotations

__all__ = ["EXAMPLES"]

EXAMPLES = {
    "store": (
        'pinui store \'{"hello":"world"}\' --name greeting',
        "pinui store @settings.json",
        "curl -s https://example.com/data.json | pinui store -",
    ),
    "retrieve": ("pinui retrieve CID | jq .hello",),
    "upload": (
        "pinui upload photo.png notes/",
        "pinui upload -r notes/                each file by itself",
        "pinui upload --hidden site/           with .well-known and the like",
        "tar c notes | pinui upload - --name notes.tar",
    ),
    "download": (
        "pinui download CID -o photo.png",
        "pinui download CID/notes/today.md",
        "pinui download CID -o - | tar x",
    ),
    "export": ("pinui export CID -o photos.car",),
    "import": ("pinui import photos.car --name photos",),
    "copy": (
        "pinui copy --from local --to pinata --all --dry-run",
        "pinui copy --from pinata --to studio --filter 'name-of-a-project size:>1mb'",
        "pinui history --filter photo | pinui copy --from local --to pinata -",
    ),
    "send": ("pinui send alice 'See you at eight'",),
    "receive": ("pinui receive CID",),
    "pins": (
        "pinui pins",
        "pinui pins --filter 'size:>1mb -draft' | cut -f1",
    ),
    "sync": ("pinui sync",),
    "pin": ("pinui pin CID --name photos",),
    "rename": ("pinui rename CID photos-2026",),
    "revoke": (
        "pinui revoke CID CID",
        "pinui history --filter draft | cut -f1 | pinui revoke - --yes",
        "pinui revoke --filter 'name-of-a-test age:>7d' --dry-run",
    ),
    "status": ("pinui status CID",),
    "verify": (
        "pinui verify CID",
        "pinui verify --all",
        "pinui --profile studio verify --all --repair-from pinata",
    ),
    "cid": (
        "pinui cid photo.png notes/",
        "pinui cid photo.png | cut -f1",
    ),
    "history": (
        "pinui history --filter photo --kind file",
        "pinui history export backup.jsonl",
        "pinui history import backup.jsonl",
        "pinui history forget --filter draft",
    ),
    "history export": ("pinui history export backup.jsonl",),
    "history import": ("pinui history import backup.jsonl",),
    "history note": ("pinui history note CID 'the draft that Ann liked'",),
    "history forget": ("pinui history forget --revoked --yes",),
    "profile": (
        "pinui profile add pinata",
        "pinui profile add work --api-url https://api.example.com --gateway-url https://gw.example.com/ipfs",
        "pinui profile use work",
    ),
    "profile list": ("pinui profile list --json",),
    "profile add": (
        "pinui profile add work --api-url https://api.example.com --gateway-url https://gw.example.com/ipfs",
        "pass show work/jwt | pinui profile add work --api-url https://api.example.com",
    ),
    "profile use": ("pinui profile use work",),
    "profile remove": ("pinui profile remove work",),
    "transfers": (
        "pinui transfers",
        "pinui transfers resume",
    ),
    "transfers resume": ("pinui transfers resume",),
    "transfers forget": ("pinui transfers forget 12",),
    "test": ("pinui --profile work test",),
    "info": ("pinui info --json",),
    "doctor": ("pinui doctor", "pinui --profile work doctor"),
    "completion": (
        'eval "$(pinui completion bash)"       in ~/.bashrc',
        "pinui completion zsh > ~/.zfunc/_pinui",
        "pinui completion fish > ~/.config/fish/completions/pinui.fish",
    ),
    "node": (
        "pinui node --port 5555 --data ./pins",
        "pinui node --token-file ./token --rate-limit 60",
    ),
}
