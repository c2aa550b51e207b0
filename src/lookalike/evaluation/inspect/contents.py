"""What the values of a text column look like: contacts, numbers of persons, street addresses, names of persons.

A look at some values, never a proof: most of them must match, and the values themselves are never shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from lookalike.data.microdata import Column
from lookalike.data.schema import ValueType

_LOOKED_AT = 500
_MOST = 0.8
_ENOUGH_NAMES = 0.35
"""So many values begin or end with a usual given name where all are names of persons."""
_FEW_NAMES = 10

_PATTERNS = {
    "e-mail addresses": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "UUIDs": re.compile(r"[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}"),
    "social security numbers": re.compile(r"\d{3}-\d{2}-\d{4}"),
    "bank account numbers": re.compile(r"[A-Z]{2}\d{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}"),
    "network addresses": re.compile(r"\d{1,3}(?:\.\d{1,3}){3}"),
    "phone numbers": re.compile(
        r"(?!\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$)(?:\+\d[\d\s()./-]{6,18}|\(?\d{2,5}\)?[\s./-]\d{2,4}(?:[\s.-]\d{2,6})+)"
    ),
    "street addresses": re.compile(
        r"(?i:\d+[a-z]?,? (?:[\w.'-]+ ){0,5}(?:st|street|ave?|avenue|rd|road|blvd|boulevard|ln|lane|dr|drive|way|ct"
        r"|court|pl|place|sq|square|ter|terrace|cir|circle|hwy|highway|pkwy|parkway|close|crescent)\b\.?.*"
        r"|(?:[\w.'-]+ ){0,4}[\w.'-]*(?:str\.|stra\u00dfe|strasse|weg|gasse|platz|allee|ufer|straat|laan|gata|vej)"
        r" ?\d+ ?[a-z]?\b.*"
        r"|(?:\d+,? ?(?:bis )?)?(?:rue|avenue|boulevard|chemin|place|via|viale|piazza|corso|calle|avenida|plaza|rua)"
        r" [\w.' -]+?(?:,? \d+\w?.*)?)"
    ),
}
_GIVEN_NAMES = """
    james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony mark
    donald steven paul andrew joshua kenneth kevin brian george edward ronald timothy jason jeffrey ryan jacob gary
    nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory frank alexander raymond
    patrick jack dennis jerry tyler aaron jose henry adam douglas nathan peter zachary kyle walter harold jeremy
    ethan carl keith roger arthur lawrence sean christian albert austin joe noah jesse willie billy bruce bryan
    ralph roy jordan eugene wayne logan dylan louis russell gabriel randy philip harry vincent bobby johnny mary
    patricia jennifer linda elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley
    kimberly emily donna michelle carol amanda melissa deborah stephanie rebecca laura helen sharon cynthia kathleen
    amy angela shirley anna brenda pamela emma nicole samantha katherine christine debra rachel carolyn janet maria
    catherine heather diane olivia julie joyce victoria ruth virginia lauren kelly christina joan evelyn judith
    andrea hannah megan cheryl jacqueline martha teresa sara janice ann marie madison frances kathryn abigail jean
    alice julia judy sophia grace denise amber doris marilyn danielle beverly isabella theresa diana natalie
    brittany charlotte rose alexis kayla anne jane lucy claire hans klaus jurgen wolfgang uwe bernd dieter gunter
    manfred andreas stefan sabine petra monika ursula renate helga karin brigitte ingrid heike silke anja katrin
    birgit claudia jan lukas felix leon finn jonas luca tim nina lena lea mia sophie pierre michel philippe alain
    nathalie isabelle sylvie francoise luc antoine camille chloe giuseppe giovanni antonio marco luigi francesca
    giulia chiara paolo juan carlos luis miguel manuel javier carmen ana pedro jorge fernando lucia elena pablo
    diego piet kees anneke maarten sven lars erik anders astrid olga ivan natalia sergei dmitri mohamed mohammed
    muhammad ahmed ali fatima aisha omar hassan ibrahim yusuf mehmet ayse wei li ming yuki hiroshi priya raj anil
    sunita bob tom jim bill mike dave steve dan ben sam alex chris kate liz eve max fritz otto greta heidi
"""


def recognise_values(column: Column) -> str | None:
    """What most values of a text column look like, or None."""
    if column.type is not ValueType.STRING or not len(column.values):
        return None
    step = -(-len(column.values) // _LOOKED_AT)
    looked_at = [str(value).strip() for value in column.values[::step]]
    for what, pattern in _PATTERNS.items():
        if sum(pattern.fullmatch(value) is not None for value in looked_at) >= _MOST * len(looked_at):
            return what
    return "names of persons" if _look_like_names(looked_at) else None


def _look_like_names(texts: Sequence[str]) -> bool:
    """Whether they are one to four words in letters, with a usual given name among the first or at the end."""
    if len(texts) < _FEW_NAMES:
        return False
    usual = frozenset(_GIVEN_NAMES.split())
    words = [re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", text.casefold()) for text in texts]
    plain = sum(
        1 <= len(each) <= 4 and not any(map(str.isdigit, text)) for each, text in zip(words, texts, strict=True)
    )
    known = sum(bool({*each[:2], *each[-1:]} & usual) for each in words if each)
    return plain >= _MOST * len(texts) and known >= _ENOUGH_NAMES * len(texts)
