"""Serves pygls, a client that takes nothing but what the protocol's types allow, with `napkin lsp`.

usage: python3 editor_client.py NAPKIN EXAMPLES
"""

import asyncio
import pathlib
import sys

from lsprotocol import types
from pygls.lsp.client import LanguageClient

NAPKIN, EXAMPLES = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()


async def main():
    client = LanguageClient("test", "1")
    told = asyncio.Queue()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def publish(parameters):
        told.put_nowait(parameters)

    await client.start_io(NAPKIN, "lsp")
    server = await client.initialize_async(types.InitializeParams(capabilities=types.ClientCapabilities()))
    assert server.server_info.name == "napkin" and server.capabilities.hover_provider
    client.initialized(types.InitializedParams())
    uris = {}
    for ending in ("ncd", "drv"):
        path = EXAMPLES / f"attention.{ending}"
        uris[ending] = path.as_uri()
        item = types.TextDocumentItem(uri=path.as_uri(), language_id=ending, version=1, text=path.read_text())
        client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=item))
        found = await asyncio.wait_for(told.get(), 20)
        assert found.uri == path.as_uri() and not found.diagnostics, found

    change = types.TextDocumentContentChangeWholeDocument(text="group d by 64\n")
    document = types.VersionedTextDocumentIdentifier(uri=uris["drv"], version=2)
    client.text_document_did_change(types.DidChangeTextDocumentParams(text_document=document, content_changes=[change]))
    (wrong,) = (await asyncio.wait_for(told.get(), 20)).diagnostics
    assert wrong.severity == types.DiagnosticSeverity.Error and "does not apply" in wrong.message, wrong

    where = {"text_document": types.TextDocumentIdentifier(uri=uris["ncd"]), "position": types.Position(3, 8)}
    shown = await client.text_document_hover_async(types.HoverParams(**where))
    assert "input Q[b, h, q, d] : bf16" in shown.contents.value, shown
    assert await client.text_document_completion_async(types.CompletionParams(**where))
    edit = await client.text_document_rename_async(types.RenameParams(new_name="queries", **where))
    assert {change.new_text for change in edit.changes[uris["ncd"]]} == {"queries"}, edit
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()
    print("right: a client of pygls is served")


asyncio.run(main())
