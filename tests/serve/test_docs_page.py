"""The page for people: complete, and without anything from the network."""

import re
from html.parser import HTMLParser

from partita import FeaturePartitionClassifier, serve

from .client import CANCER, TUMOUR, ask


class Reader(HTMLParser):
    """Collects tags, attributes and text; tags must be closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.links, self.ids, self.text = [], set(), [], set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        attributes = dict(attrs)
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        self.ids.add(attributes.get("id"))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page_of(app):
    answer = ask(app, b"", "/docs", "GET")
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    reader = Reader()
    reader.feed(answer.text)
    assert reader.open == []
    return answer.text, reader


def test_the_page_is_complete_and_needs_no_network(classifier):
    text, page = page_of(serve.make_app(classifier, name="cancer", token="s3cret"))
    assert "script" not in page.tags
    assert not re.search("https?://", text)
    for link in page.links:
        assert link == "openapi.json" or link.removeprefix("#") in page.ids
    for word in ("POST /certify", "GET /health", "GET /ready", "GET /metrics", *CANCER.columns):
        assert word in page.text
    assert "Authorization: Bearer" in page.text
    assert "s3cret" not in text


def test_names_of_columns_are_escaped():
    frame = CANCER.iloc[:, :3].set_axis(["<script>alert(1)</script>", "'\"&", "c"], axis=1)
    model = FeaturePartitionClassifier(n_submodels=3).fit(frame, TUMOUR)
    text, page = page_of(serve.make_app(model, name="<b>bold</b>"))
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert "<script>alert(1)</script>" in page.text
    assert "<b>bold</b>" in page.text
    assert "<script" not in text
