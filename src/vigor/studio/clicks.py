"""Parts of HTML that can be clicked and pointed at, which viser's own HTML cannot.

A part says what it stands for, `data-click="play 2"` or `data-point="point 2"`. A script on the element around writes
that into a text field of viser's, which is hidden, and so it comes here. It is checked: a known word and a number.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

from vigor.studio.widgets import careful

LABEL = "said by the page"
SAID = re.compile(r"([a-z]{1,20}) (-?\d{1,5}) \d{1,20}")
"""A word, a number, and the time, by which two clicks on the same part differ."""
SCRIPT = (
    "const part = event.target.closest('[data-{0}]'); const said = part ? part.dataset.{0} : '{1}';"
    " if (said && (!'{1}' || this.dataset.last !== said)) {{ this.dataset.last = said;"
    " let row = document.querySelector('label[for=&quot;{2}&quot;]');"
    " while (row && !row.querySelector('input')) row = row.parentElement;"
    " if (row) {{ const field = row.querySelector('input');"
    " Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, said + ' ' + Date.now());"
    " field.dispatchEvent(new Event('input', {{bubbles: true}})); }} }}"
)
"""Script of an event: {0} is the kind of part, {1} what to say away from all of them, {2} names the field."""


class Clicks:
    """The hidden field, and what the words do: functions of a number."""

    def __init__(self, gui: Any, actions: Mapping[str, Callable[[int], None]]) -> None:
        self._actions = actions
        self._field = gui.add_text(LABEL, "")
        self._name = self._field._impl.uuid  # By which the page knows its label; viser has no public one.
        hidden = "position:absolute;left:-9999px"
        gui.add_html(f'<style>div:has(> div > div > p > label[for="{self._name}"]) {{{hidden}}}</style>')

        async def hear(event: Any) -> None:
            said = self._field.value  # Now: the next may be on its way already.
            act = careful(lambda client: self.hear(said))
            await asyncio.get_running_loop().run_in_executor(None, act, event)

        self._field.on_update(hear)

    def hear(self, said: Any) -> None:
        """Do what was said; anything that is not known is left out."""
        found = SAID.fullmatch(said) if isinstance(said, str) else None
        if found is not None and found[1] in self._actions:
            self._actions[found[1]](int(found[2]))

    def around(self, html: str, away: str = "") -> str:
        """HTML whose parts can be clicked; away: what to say when none is pointed at."""
        click, over = SCRIPT.format("click", "", self._name), SCRIPT.format("point", away, self._name)
        pointing = f'onmouseover="{over}" onmouseleave="{over}"' if away else ""
        return f'<div onclick="{click}" {pointing}>{html}</div>'
