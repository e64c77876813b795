"""Display of results in a notebook."""

import html

# Colors are those of the notebook, light or dark, and long texts are scrolled.
_STYLE = (
    "margin: 0; max-height: 36em; overflow: auto; white-space: pre; color: inherit; background: transparent; "
    "font: 0.92em/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
)


class ShowsText:
    """In a notebook, an object of such a class displays the text that `print` prints."""

    def _repr_html_(self) -> str:
        return f'<pre style="{_STYLE}">{html.escape(str(self))}</pre>'
