"""Tables and the chart that stored results make: python -m docs.tables writes them, --check says if they are true.

A table stands in its page between the comments `table: NAME` and `end`, where NAME is a function of the modules beside.
Measured figures stand nowhere else.
"""

import argparse
import re
import sys

from docs.tables import box_pusher, chart, costs, data, invariants, methods, paper, scenes, studio, ways
from docs.tables.markdown import DOCS, RESULTS

sys.path.append(str(DOCS.parent / "benchmarks"))
PAGES = [
    DOCS.parent / "README.md",
    *(DOCS / name for name in ("data.md", "paper.md", "performance.md", "studio.md")),
    *sorted(RESULTS.glob("*.md")),
]
BLOCK = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)
MODULES = (methods, paper, invariants, box_pusher, scenes, ways, data, costs, studio)
TABLES = {maker.__name__: maker for module in MODULES for maker in module.TABLES}


def written(text: str) -> str:
    """A page with its tables made anew."""

    def block(found: re.Match[str]) -> str:
        return f"<!-- table: {found[1]} -->\n{TABLES[found[1]]()}<!-- end -->"

    return BLOCK.sub(block, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only say whether the tables are true")
    check, wrong = parser.parse_args().check, []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if (now := written(text)) != text:
            wrong.append(page.name)
            if not check:
                page.write_text(now, encoding="utf-8")
    if not chart.is_true():
        wrong.append(chart.PICTURE.name)
        if not check:
            chart.write()
    if check and wrong:
        sys.exit(f"{', '.join(wrong)}: no longer true; run: python -m docs.tables")


if __name__ == "__main__":
    main()
