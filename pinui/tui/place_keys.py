"""The keys of the five places, pane by pane."""

from __future__ import annotations

from pinui.tui.command import Command, Group, here, spare

__all__ = ["PLACE_KEYS"]

PLACE_KEYS: dict[str, Group] = {
    "pins": Group(
        "Pins",
        (
            here(
                "pins.again",
                "u",
                "screen.store_again",
                "store again",
                "Store a revoked pin again, from the history, its file or a gateway",
            ),
            Command(
                "pins.filter", "slash", "screen.filter", "filter", "Show only what contains these words; esc clears it"
            ),
            Command("pins.mark", "space", "screen.mark", "mark", "Mark this pin, and go on to the next"),
            Command("pins.open", "enter", "screen.open", "open", "Read the pin in the detail pane"),
            Command(
                "pins.copy", "y", "screen.copy", "copy", "Copy the CID, its ipfs:// URI, gateway URL, name or content"
            ),
            Command(
                "pins.revoke",
                "x",
                "screen.revoke",
                "revoke",
                "Ask the provider to stop keeping the marked pins, or this one; asks first",
            ),
            Command("pins.browser", "o", "screen.browse", "browser", "Open it in the browser, through the gateway"),
            Command("pins.sort", "s", "screen.sort", "sort", "Order by age, name or size"),
            Command(
                "pins.name", "n", "screen.rename", "name", "Give this pin a name of your own, kept on this machine"
            ),
            Command("pins.download", "d", "screen.download", "download", "Save it to a file, in Files"),
            spare("pins.note", "N", "screen.annotate", "note", "Write a note to this pin, kept on this machine"),
            spare("pins.mark_all", "a", "screen.mark_all", "mark all", "Mark every pin in the list, or none"),
            spare("pins.hide", "z", "screen.hide", "hide revoked", "Hide the revoked ones, or show them again"),
            spare(
                "pins.forget",
                "delete",
                "screen.forget",
                "forget",
                "Remove rows from this machine's history; the pins stay",
            ),
            spare("pins.refresh", "r", "screen.refresh_list", "refresh", "Read the history and this preview again"),
            here("pins.clear", "escape", "screen.clear_filter", "clear the filter", "Show everything again"),
        ),
        "pins",
        "#pins",
    ),
    "detail": Group(
        "Detail",
        (
            here("detail.back", "escape", "screen.back", "back to the list", "Return to the list"),
            here("detail.into", "enter", "screen.walk_into", "open entry", "Go into this entry of a folder"),
            here("detail.up", "backspace,u", "screen.walk_up", "up a folder", "Return to the folder above"),
            here(
                "detail.copy", "y", "screen.copy", "copy", "Copy the CID, its ipfs:// URI, gateway URL, name or content"
            ),
            here("detail.browser", "o", "screen.browse", "browser", "Open it in the browser, through the gateway"),
            here("detail.download", "d", "screen.download", "download", "Save it to a file, in Files"),
            Command("detail.pager", "p", "screen.pager", "pager", "Read all of it in $PAGER"),
        ),
        "pins",
        "#detail",
    ),
    "store": Group(
        "JSON: Store",
        (
            Command("store.store", "f5", "screen.store", "store", "Store the document"),
            here("store.copy", "f8", "screen.copy_stored", "copy CID", "Copy the CID of what was stored last"),
            Command("store.editor", "f4", "screen.external_editor", "$EDITOR", "Edit the text in your own editor"),
            Command("store.load", "f3", "screen.load_file", "load file", "Read a JSON file into the editor"),
        ),
        "json",
        "#store",
    ),
    "retrieve": Group(
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
    ),
    "document": Group(
        "JSON: Document",
        (
            here("document.fold", "enter,space", "screen.fold", "fold", "Fold or unfold this part"),
            spare("document.fold_all", "z", "screen.fold_all", "fold all", "Fold everything, or unfold it"),
            Command(
                "document.text", "t", "screen.toggle_text", "tree or text", "Show the document as a tree or as text"
            ),
            Command(
                "document.copy", "y", "screen.copy", "copy", "Copy the value, its path, the whole document or the CID"
            ),
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
    ),
    "browser": Group(
        "Files: Upload",
        (
            Command(
                "browser.upload",
                "u",
                "screen.upload",
                "upload",
                "Upload what is marked, or this one; a folder becomes one CID",
            ),
            here("browser.mark", "space", "mark", "mark", "Mark a file or folder for upload"),
            Command("browser.path", "p", "screen.type_path", "type a path", "Type or paste a path to go to"),
            Command("browser.download", "d", "screen.download", "download", "Fetch a file by its CID"),
            here("browser.open", "enter,l,right", "open", "open", "Go into the folder"),
            here("browser.up", "backspace,h,left", "parent", "up", "Go to the folder above"),
            here("browser.unmark", "escape", "unmark_all", "unmark all", "Take every mark away, in other folders too"),
            spare(
                "browser.hidden",
                "full_stop",
                "toggle_hidden",
                "hidden files",
                "Show or hide names that begin with a dot",
            ),
            spare("browser.refresh", "r", "read_again", "refresh", "Read the folder again"),
        ),
        "files",
        "#browser",
    ),
    "download": Group(
        "Files: Download",
        (here("download.next", "enter", "submit", "next", "Go on to the place"),),
        "files",
        "#download",
    ),
    "save_as": Group(
        "Files: Save as",
        (here("save_as.download", "enter", "submit", "download", "Download it to this place"),),
        "files",
        "#download",
    ),
    "transfers": Group(
        "Files: Transfers",
        (
            Command("transfers.cancel", "c", "screen.cancel_transfer", "cancel", "Stop this transfer"),
            Command("transfers.retry", "r", "screen.retry_transfer", "retry", "Start this transfer again"),
            Command("transfers.copy", "y", "screen.copy", "copy", "Copy the CID, its ipfs:// URI, gateway URL or name"),
            Command(
                "transfers.clear",
                "e",
                "screen.clear_ended",
                "clear ended",
                "Remove what is done, failed or cancelled from the list",
            ),
        ),
        "files",
        "#transfers",
    ),
    "recipients": Group(
        "Messages: Recipients",
        (Command("recipients.write", "enter,i", "screen.write", "write", "Write to this recipient"),),
        "messages",
        "#recipients",
    ),
    "messages": Group(
        "Messages",
        (
            Command(
                "messages.copy", "y", "screen.copy", "copy", "Copy a message's CID, to pass it on, its text or its URL"
            ),
            Command("messages.new", "n", "screen.new_recipient", "new", "Write to somebody new"),
            Command("messages.receive", "v", "screen.receive", "receive", "Read a message by its CID"),
        ),
        "messages",
        "#recipients",
    ),
    "thread": Group(
        "Messages: Thread",
        (
            here("thread.write", "enter,i", "screen.write", "write", "Write to this recipient"),
            Command("thread.file", "f", "screen.file_under", "file under", "File a received message under a name"),
            Command("thread.revoke", "x", "screen.revoke", "revoke", "Ask the provider to stop keeping it; asks first"),
            spare("thread.browser", "o", "screen.browse", "browser", "Open it in the browser, through the gateway"),
        ),
        "messages",
        "#thread",
    ),
    "connection": Group(
        "Connection",
        (
            Command("connection.test", "t", "screen.test", "test now", "Ask the service whether the token works"),
            Command("connection.use", "enter", "screen.use", "use", "Use this profile from now on"),
            Command("connection.add", "a", "screen.add", "add", "Set up another service"),
            Command("connection.edit", "e", "screen.edit", "edit", "Change the addresses of this profile"),
            Command(
                "connection.token",
                "r",
                "screen.replace_token",
                "replace token",
                "Enter a new token; the old one is never shown",
            ),
            Command(
                "connection.remove",
                "delete",
                "screen.remove",
                "remove",
                "Remove this profile and its token, of a built-in one the token; asks first",
            ),
            spare("connection.copy", "y", "screen.copy", "copy", "Copy the API or gateway address"),
        ),
        "connection",
        "#profiles",
    ),
}
