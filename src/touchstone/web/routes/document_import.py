"""The page that imports metadata documents, after a preview of the import."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response
from starlette.routing import Route

from touchstone.client import ImportReport, TouchstoneError
from touchstone.client.import_calls import ImportOptions
from touchstone.core.errors import Invalid, TooLarge
from touchstone.metadata.readers.standards import STANDARDS
from touchstone.web.forms import has_chosen_file, invalid_field, list_field, text_field
from touchstone.web.page_context import PageContext
from touchstone.web.page_endpoint import page_endpoint

_IMPORT: Final = "/app/datasets/import"
_MAX_DOCUMENTS: Final = 100
_MAX_EMBEDDED_BYTES: Final = 4 * 1024 * 1024  # total size of the documents in the form of the preview
_STANDARD_TITLES: Final = {standard.key: standard.title for standard in STANDARDS}
_FORM_ERRORS: Final = (Invalid.status, TooLarge.status)


@dataclass(frozen=True, slots=True)
class Document:
    """A document that the reader has uploaded."""

    name: str
    content: bytes

    @property
    def encoded(self) -> str:
        """The content in Base64, for a hidden field in the form of the preview."""
        return base64.urlsafe_b64encode(self.content).decode()


async def import_page(ctx: PageContext) -> Response:
    """Show the form for documents; on POST, show a preview of the import, or import the documents.

    The preview has a second form that contains the documents, so that the server stores nothing between the preview and
    the import. If the documents are too large for the form, the reader has to choose them again.
    """
    form = await ctx.form()
    if not ctx.is_post:
        return await _render_import(ctx, form)

    try:
        await ctx.require_new_form()
        documents = await _read_documents(ctx, form)
        is_preview = text_field(form, "action") != "import"
        report = await _import_documents(ctx, documents, form, dry_run=is_preview)
    except TouchstoneError as error:
        if error.status not in _FORM_ERRORS:
            raise
        return await _render_import(ctx, form, error=error)

    return await _render_import(ctx, form, report=report, documents=documents if is_preview else ())


async def _import_documents(
    ctx: PageContext, documents: Sequence[Document], form: FormData, *, dry_run: bool
) -> ImportReport:
    """Import documents with the options in the form, and return the report; a dry run changes nothing."""
    is_private = "private" in list_field(form, "visibility")
    options = ImportOptions(
        source_name=text_field(form, "source_name") or None,
        source_url=text_field(form, "source_url") or None,
        # With None, an existing record keeps its visibility, and a new record is public unless the document was
        # exported from a private record.
        visibility="private" if is_private else None,
        dry_run=dry_run,
    )
    named_contents = [(document.name, document.content) for document in documents]
    return await ctx.api.import_documents(named_contents, **options)


async def _read_documents(ctx: PageContext, form: FormData) -> list[Document]:
    """Return the documents in the form, which are chosen files or hidden fields of the preview.

    If the reader has named the dataset, this name becomes the folder of the chosen files.

    Raises:
        TouchstoneError: the form has no documents, or too many.
    """
    documents = _read_embedded_documents(ctx, form)

    # Some standards take the identifier of a dataset from the folder of the document.
    identifier = text_field(form, "name").strip("/")
    for upload in form.getlist("files"):
        if isinstance(upload, UploadFile) and upload.filename:
            name = f"{identifier}/{upload.filename}" if identifier else upload.filename
            documents.append(Document(name, await upload.read()))

    if not documents:
        raise invalid_field(ctx.text("import_nothing"), "files")
    if len(documents) > _MAX_DOCUMENTS:
        raise invalid_field(ctx.text("import_too_many", limit=_MAX_DOCUMENTS), "files")
    return documents


def _read_embedded_documents(ctx: PageContext, form: FormData) -> list[Document]:
    """Return the documents in the hidden fields of the preview.

    Raises:
        TouchstoneError: the hidden fields are malformed.
    """
    names = list_field(form, "document_name")
    contents = [content for content in form.getlist("document_content") if isinstance(content, str)]
    if len(names) != len(contents):
        raise invalid_field(ctx.text("import_nothing"), "files")

    try:
        decoded_contents = [base64.urlsafe_b64decode(content) for content in contents]
    except ValueError:
        raise invalid_field(ctx.text("import_nothing"), "files") from None
    return [Document(name, content) for name, content in zip(names, decoded_contents, strict=True)]


async def _render_import(
    ctx: PageContext,
    form: FormData,
    *,
    error: TouchstoneError | None = None,
    report: ImportReport | None = None,
    documents: Sequence[Document] = (),
) -> Response:
    """Return the import page.

    Args:
        ctx: the request.
        form: the submitted form.
        error: an error in the form.
        report: the report of the import or of its dry run.
        documents: the documents of a preview; empty after the import itself.
    """
    size = sum(len(document.content) for document in documents)
    return await ctx.render(
        "import.html",
        error=error,
        form=form,
        report=report,
        standard_titles=_STANDARD_TITLES,
        is_preview=bool(documents),
        kept_documents=documents if size <= _MAX_EMBEDDED_BYTES else (),
        limit=ctx.state.settings.upload_max_bytes,
        files_are_lost=error is not None and has_chosen_file(form, "files"),
    )


ROUTES: Final = (Route(_IMPORT, page_endpoint(import_page), methods=["GET", "POST"]),)
