"""The page /docs: the description of the interface for people, without scripts.

Made of what /openapi.json says and of nothing else, as one file: it works without a network.
"""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8885 }
code, pre { font: 0.9em ui-monospace, monospace }
pre { background: #8881; padding: 0.8rem; overflow-x: auto }
table { border-collapse: collapse } td, th { text-align: left; padding: 0.2rem 1rem 0.2rem 0 }
td, th { vertical-align: top } summary { cursor: pointer }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } }
"""
SHOWN_COLUMNS = 3  # in the example
EXAMPLES = {"number": 0, "string": "", "null": None}


def docs_page(description: dict[str, Any]) -> str:
    """A description in OpenAPI as an HTML page."""
    info = description["info"]
    schemas = description.get("components", {}).get("schemas", {})
    parts = [
        f"<h1>{escape(info['title'])}</h1>",
        f"<p>partita {escape(info['version'])}. For programs: "
        '<a href="openapi.json">openapi.json</a>.</p>',
        *(f"<p>{escape(text)}</p>" for text in info.get("description", "").splitlines()),
    ]
    for path, methods in description["paths"].items():
        for method, route in methods.items():
            parts += _route(path, method, route)
    parts.append("<h2>Types</h2>")
    for name, schema in schemas.items():
        parts += _type(name, schema)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])}</title><style>{STYLE}</style></head>"
        f"<body>{''.join(parts)}</body></html>"
    )


def _route(path: str, method: str, route: dict[str, Any]) -> Iterator[str]:
    yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>"
    yield f"<p>{escape(route.get('summary', ''))}</p>"
    if "security" in route:
        yield "<p>Needs the header <code>Authorization: Bearer TOKEN</code>.</p>"
    body = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    if "schema" in body:
        yield from _body(path, body["schema"], "security" in route)
    rows = [
        f"<tr><td>{escape(status)}</td><td>{escape(answer.get('description', ''))}</td>"
        f"<td>{_answer_type(answer)}</td></tr>"
        for status, answer in route.get("responses", {}).items()
    ]
    yield f"<table><tr><th>Status</th><th>Meaning</th><th>Type</th></tr>{''.join(rows)}</table>"


def _answer_type(answer: dict[str, Any]) -> str:
    schema = answer.get("content", {}).get("application/json", {}).get("schema", {})
    return _type_of(schema) if schema else ""


def _body(path: str, schema: dict[str, Any], needs_key: bool) -> Iterator[str]:
    """The columns of a row, and a command to try."""
    rows = schema["properties"].get("rows", {})
    columns = rows.get("items", {}).get("properties", {})
    if not columns:
        yield f"<pre>{escape(json.dumps(schema, indent=1))}</pre>"
        return
    shown = {name: _example(cell) for name, cell in list(columns.items())[:SHOWN_COLUMNS]}
    more = ", ..." if len(columns) > SHOWN_COLUMNS else ""
    example = '{"rows": [' + json.dumps(shown, ensure_ascii=False)[:-1] + more + "}]}"
    key = ' -H "Authorization: Bearer $TOKEN"' if needs_key else ""
    yield f"<pre>curl{key} ADDRESS{escape(path)} -d '{escape(example)}'</pre>"
    yield f"<p>At most {rows.get('maxItems')} rows, each with these {len(columns)} columns:</p>"
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{_type_of(cell)}</td></tr>"
        for name, cell in columns.items()
    )
    yield f"<details><summary>Columns</summary><table>{cells}</table></details>"


def _example(cell: dict[str, Any]) -> Any:
    kind = cell.get("type", ["null"])
    return EXAMPLES.get(kind[0] if isinstance(kind, list) else kind)


def _type(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield f'<h3 id="{escape(name)}"><code>{escape(name)}</code></h3>'
    yield f"<p>{escape(schema.get('description', ''))}</p>"
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code></td><td>{_type_of(kind)}</td></tr>"
        for field, kind in schema.get("properties", {}).items()
    )
    yield f"<table>{rows}</table>"


def _type_of(schema: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type_of(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return escape(", ".join(json.dumps(value) for value in schema["enum"]))
    kind = schema.get("type", "anything")
    if kind == "array" and "items" in schema:
        return f"list of {_type_of(schema['items'])}"
    words = " or ".join(kind) if isinstance(kind, list) else kind
    meaning = f" ({schema['description']})" if "description" in schema else ""
    return escape(f"{words}{meaning}")
