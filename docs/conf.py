"""The documentation site: `make docs` builds it from the pages of this folder, without a network."""

import sys
from pathlib import Path

from vigor import __version__

sys.path.insert(0, str(Path(__file__).parent / "site"))

project, author, release = "VIGOR", "The VIGOR authors", __version__
extensions = ["myst_nb", "sphinx_design", "sphinx.ext.autodoc", "mathml", "sources", "commands"]
exclude_patterns = ["_build", "jupyter_execute", "site", "gallery/notebooks", "gallery/pages", "results/benchmark"]
suppress_warnings = ["myst.header"]  # Pages of the changelog begin where a reader of the repository begins.

myst_enable_extensions = ["attrs_block", "colon_fence", "dollarmath", "tasklist"]
myst_heading_anchors = 3
myst_url_schemes = {"http": None, "https": None, "mailto": None, "source": "{{path}}#{{fragment}}"}
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parent / "gallery" / "notebooks")
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True

default_role, smartquotes = "code", False
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
maximum_signature_line_length = 80

html_theme, html_title, html_math_renderer = "furo", "VIGOR", "mathml"
html_static_path, html_extra_path = ["site/static"], ["gallery/pages"]
html_css_files = ["site.css"]
html_copy_source = html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#005f9e", "color-brand-content": "#005f9e"},
    "dark_css_variables": {"color-brand-primary": "#6fb7e9", "color-brand-content": "#6fb7e9"},
}
