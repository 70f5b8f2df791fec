"""Keys and help of JSON."""

from __future__ import annotations

from pinui.tui.keys import Command, Group, here, spare

__all__ = ["ABOUT", "DOCUMENT", "KEYS", "RETRIEVE", "STORE"]

STORE = Group(
    "JSON: Store",
    (
        Command("store.store", "f5", "screen.store", "store", "Store the document"),
        here("store.copy", "f8", "screen.copy_stored", "copy CID", "Copy the CID of the document stored last"),
        Command("store.editor", "f4", "screen.external_editor", "$EDITOR", "Edit the text in your own editor"),
        Command("store.format", "f6", "screen.format", "format", "Lay out the document, one member a line"),
        Command("store.named", "f7", "screen.store_named", "store as", "Store the document under a name of your own"),
        Command("store.load", "f3", "screen.load_file", "load file", "Read a JSON file into the editor"),
    ),
    "json",
    "#store",
)

RETRIEVE = Group(
    "JSON: Retrieve",
    (
        Command(
            "retrieve.get",
            "enter",
            "submit",
            "retrieve",
            "Fetch the document of a CID and check it",
            from_palette="enter_field",
        ),
    ),
    "json",
    "#retrieve",
)

DOCUMENT = Group(
    "JSON: Document",
    (
        here("document.fold", "enter,space", "screen.fold", "fold", "Fold or unfold this part"),
        spare("document.fold_all", "z", "screen.fold_all", "fold all", "Fold everything, or unfold it"),
        Command("document.text", "t", "screen.toggle_text", "tree or text", "Show the document as a tree or as text"),
        Command("document.copy", "y", "screen.copy", "copy", "Copy the value, its path, the whole document or the CID"),
        Command("document.save", "w", "screen.save", "save", "Write the document to a file"),
        Command(
            "document.edit",
            "e",
            "screen.edit_as_new",
            "edit as new",
            "Put the document into the editor, to store another one",
        ),
    ),
    "json",
    "#document",
)

KEYS = (
    STORE,
    RETRIEVE,
    DOCUMENT,
)

ABOUT = {
    "store": (
        "Store",
        "Write or load a JSON document and store it. It is stored as JavaScript would write it. On a "
        "pinning service it is public from then on; on the local node only this machine can read it.",
    ),
    "retrieve": (
        "Retrieve",
        "Enter a CID, or any address that contains /ipfs/. The content is verified against it.",
    ),
    "document": ("Document", "The document that was retrieved, as a tree or as text."),
}
"""Titles and texts of the help, by the id of the widget that has the focus."""
