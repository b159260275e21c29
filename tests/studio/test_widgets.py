"""Widgets: errors are told on the page, and files come at once."""

from types import SimpleNamespace

from vigor.studio.widgets import careful, download


class Page:
    """Keeps what it is told."""

    def __init__(self):
        self.said, self.files = [], []

    def add_notification(self, title, body, **options):
        self.said.append(body)

    def send_file_download(self, name, content, save_immediately):
        assert save_immediately  # Else a second click is needed.
        self.files.append((name, content))


def test_any_error_of_a_button_is_a_notice(capsys):
    def fail(client):
        raise OSError("no space left on device\nand details")

    page = Page()
    careful(fail)(SimpleNamespace(client=page))
    assert page.said == ["OSError: no space left on device"]
    assert "in fail\n" in capsys.readouterr().err


def test_an_exported_table_is_downloaded(tmp_path):
    exported = tmp_path / "planar-reacher_plan1_way1.csv"
    exported.write_text("joints")
    page = Page()
    download(page, exported)
    assert page.files == [(exported.name, b"joints")]
