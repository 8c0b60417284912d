"""How Sphinx builds the site: ``make docs``. Nothing here needs the network."""

import sys
import warnings
from pathlib import Path

import partita
from partita.datasets import load_beijing_air, load_gas_drift, load_lending_club

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "partita"
author = "The partita authors"
copyright = "the partita authors"  # noqa: A001 (Sphinx reads this name)
version = release = partita.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "mathml",
    "docstrings",
]
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "gallery/**/*.py",
    "gallery/**/*.ipynb",
    "gallery/**/*.md5",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
smartquotes = False  # code in prose is to be copied
toc_object_entries_show_parents = "hide"

# Markdown: $...$ is mathematics, ::: holds directives, and headings can be linked to
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4

# API reference: one page per public name, generated from each package's __all__
autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autosummary_context = {"exported_at_the_top": set(partita.__all__)}
autodoc_typehints = "none"  # numpydoc's parameter lists have them
autodoc_member_order = "bysource"
numpydoc_show_class_members = False  # the class template lists them

# Bibliography: authors and years, linked to docs/references.md
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"


def without_data() -> list[str]:
    """Return the examples whose data is nowhere to be had; their pages show code alone."""
    missing = []
    for page, load in (
        ("plot_14_gas_detector", load_gas_drift),
        ("plot_15_air_network", load_beijing_air),
        ("plot_16_credit", load_lending_club),
    ):
        try:
            load()
        except partita.InputError as exc:
            print(f"{page} is built without its results: {exc}")
            missing.append(page)
    return missing


# Gallery: every example runs at each clean build, and a failing example fails the build
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_"
    + "".join(f"(?!{page[5:]})" for page in without_data()),
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("partita",),
    "backreferences_dir": "gallery/backreferences",
    "image_scrapers": ("matplotlib",),
    "capture_repr": ("_repr_html_",),  # frames, not "<Legend object at 0x...>"
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,  # those pages load scripts from the network
    "min_reported_time": 1,
    "plot_gallery": "True",
    "abort_on_example_error": False,
    "nested_sections": False,
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
}
warnings.filterwarnings(
    "ignore", message=".*is non-interactive, and thus cannot be shown"
)

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "partita"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {
        "text": "partita",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "header_links_before_dropdown": 7,
    "navigation_depth": 3,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "back_to_top_button": False,
}
html_context = {"default_mode": "auto"}
html_sidebars = {"index": [], "start": [], "references": []}
