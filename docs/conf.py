"""Settings of the site: `make docs` builds it, without any network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from building import gallery  # noqa: E402 -- the folder of the site must be on the path first

import noisypairs  # noqa: E402

#: CI runs the quick examples alone; the others are shown without their pictures.
QUICK = bool(os.environ.get("DOCS_QUICK"))

project = "noisypairs"
author = "The noisypairs developers"
project_copyright = author
version = release = noisypairs.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "building",
]
root_doc = "index"
exclude_patterns = ["_build", "figures", "gallery/**.ipynb"]
default_role = "py:obj"  # `Pairs` in a docstring is a link where there is something to link to
nitpicky = False
suppress_warnings = ["config.cache"]

myst_heading_anchors = 4  # anchors as GitHub makes them: links with anchors work in both places
myst_enable_extensions = ["dollarmath", "attrs_block"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the text of a parameter says what it takes
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = f"noisypairs {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}
html_sidebars = {"index": []}

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": rf"/plot_({'|'.join(gallery.QUICK)})\.py" if QUICK else r"/plot_",
    "within_subsection_order": "building.gallery.order",
    "image_srcset": ["2x"],
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
    "reset_modules": ("matplotlib", "building.gallery.reset_warnings"),
}
