"""Names of persons: lists of common given and family names, and how a text is recognised as one.

The lists are short and written by hand: frequent names of English, German, French, Spanish, Portuguese, Italian,
Dutch, Scandinavian, Polish, Turkish, Arabic, Indian and Chinese speakers, without accents. They cannot name
everybody, and need not: a column of names is found if a good part of its different values are on them. Words that are
as often something else (may, grace, rose, paris, charlotte, jordan) count only beside a second name.

A text is a full name if it has the form of one: two to five words that begin with capitals, of which the first is a
given name and another one is a family name or is on no list; or "Smith, Anna". A title before a word (Mr. Smith)
names a person inside a text. A column of single given names is found by the share of its values on the list.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_GIVEN = """
aaron abdul abdullah abigail achim adam adele adrian adriana agata agnes agnieszka ahmed ahmet aisha alan albert
alberto alejandra alejandro alessandra alessandro alexander alexandra alexandre alfred alfredo ali alice alicia
alison allison amanda amelia amina amir amit amy ana anders andrea andreas andrei andres andrew andrzej angela
angelika anita anja anke anna anne annette annie antje antoine anton antonia antonio antonios april ashley asta
astrid axel ayse barbara bart beatrice beatriz ben benedikt benjamin benoit bernard bernd bernhard bert bettina bill
birgit bjorn bob boris brandon brenda brian bridget britta bruce bruno camille carl carla carlo carlos carmen carol
carole caroline catherine cecilia celine chad chantal charles chiara chloe christa christian christiane christina
christine christoph christophe christopher cindy claire clara claude claudia claudio clemens colin connor cornelia
craig cristina cynthia dagmar damien daniel daniela danielle dave david deborah debra denis dennis derek diana diane
diego dieter dietmar dirk dominik dominique donald donna doris dorothea dorothy douglas duncan dylan edith edouard
eduard eduardo edward edwin eileen elaine eleanor elena elias elisa elisabeth elizabeth elke ella ellen elsa emil
emily emma emmanuel enrico eric erica erich erik erika ernst ernesto ester esther ethan eugene eva evelyn ewa fabian
fabio fabrice fatima fatma federico felipe felix ferdinand fernanda fernando florence florian francesca francesco
francisco franck francois francoise frank franz fred frederic frederik friedrich fritz gabriel gabriela gabriele
gary geoffrey georg george georges gerald gerard gerd gerhard gertrud gianni gilbert gilles giovanni giulia giuseppe
gisela gloria gonzalo gordon greg gregor gregory greta grzegorz guido guillaume guillermo gunther gustav guy hannah
hannes hans harald harold harry hassan heather hector heidi heike heinrich heinz helen helena helene helga helmut
hendrik henri henrik henry herbert hermann hilda holger horst howard hubert hugo hussein ian ibrahim ida ignacio
ilse ines inge ingo ingrid irene iris irina isabel isabella isabelle ivan jack jacek jackie jacob jacqueline jacques
jaime jakob james jamie jan jana jane janet janina jason javier jean jeanne jeff jeffrey jennifer jens jeremy jerome
jerry jesper jessica jesus jill joachim joan joanna joao joaquin jochen joe joel johan johanna johannes john johnny
jonas jonathan jorg jorge jose josef joseph joshua juan juana judith julia julian juliana julie julien juliette
jurgen justin justyna kai karen karin karl karsten kate katharina katherine kathleen kathrin kathryn katja katrin
katarzyna keith kelly kenneth kerstin kevin khalid kim kimberly klaus konrad konstantin kristen kristian kristin
kristina krzysztof kurt lars laszlo laura lauren laurence laurent lea leah leila lena leo leon leonie leonardo
leopold leslie lewis liam lidia lieselotte lina linda lisa lloyd loic lorenz lorenzo louis louise luca lucas lucia
lucie ludwig luis luisa lukas lydia lynn maciej madeleine magda magdalena maja malgorzata manfred manuel manuela
marc marcel marcelo marcin marco marcos marcus margaret margarita margit margrit margot maria mariana marianne marie
marina mario marion marjorie mark markus marlene marta martha martin martina martine mary mathias mathieu mathilde
matteo matthew matthias matthieu maureen maurice max maximilian megan mehmet melanie melissa mia michael michaela
michal michel michele michelle miguel mike milan mirjam mohamed mohammad mohammed mohamad monica monika monique
moritz muhammad mustafa nadia nadine nancy naomi natalia natalie nathalie nathan neil nelly nicholas nick nicola
nicolas nicole niels nigel niklas nils nina noah noemi nora norbert nuria olaf ole oleg olga oliver olivia olivier
omar oscar oskar otto owen pablo pamela paola paolo pascal patricia patrick paul paula paulina paulo pavel pedro
peggy peter petra philip philipp philippe phillip pia pierre piotr priya rachel rafael rainer raj rajesh ralf ralph
ramon raquel raul raymond rebecca regina reinhard renate rene ricardo richard rita robert roberto robin rodrigo
roger roland rolf roman ronald rosa rosemary rosmarie ross roswitha roy ruben rudolf rupert russell ruth ryan sabine
sabrina salvador samantha samir samuel sandra sara sarah scott sean sebastian serge sergei sergio sharon sheila
shirley sibylle silke silvia simon simone sofia sonia sonja sophia sophie stefan stefania stefanie steffen stephan
stephane stephanie stephen steve steven stuart sunil susan susana susanne suzanne sven svetlana swen sylvia sylvie
tamara tanja tatiana ted teresa terry thea theo theodor theresa thierry thomas thorsten tiffany tim timothy tina
tobias tom tomas tomasz toni tracy trevor udo ulf ulrich ulrike ulla umberto urs ursula ute uwe valentin valeria
valerie vanessa vera verena veronica veronika vicente victor victoria viktor vincent vincenzo viola virginia vivian
vladimir volker walter waltraud wanda wendy werner wilfried wilhelm willem william wolfgang xavier yannick yolanda
yusuf yves yvonne zoe zofia wei jing xiaoming hiroshi takashi yuki kenji akiko sanjay vijay ravi anil sunita deepak
lakshmi suresh ramesh
"""
_ALSO_WORDS = """
may grace rose paris charlotte jordan april june summer autumn dawn joy hope faith carol florence victoria virginia
georgia carolina dakota austin dallas houston london sydney brooklyn chelsea lourdes santiago diego jean mark bill
will rob frank art pat gene rusty rich ray jack guy max iris viola jade ruby pearl amber crystal ginger olive daisy
violet lily ivy heather hazel holly robin jay drew christian angel jesus king duke earl dean mason hunter carter
cooper taylor tyler parker logan chase grant wade lance miles penny sandy dusty rocky sunny misty star sky ocean
river forest brook lane chad israel kenya india china asia america francisco antonio jose juan luis louis rosa clara
san carlos pedro ana marina milan roman kim lee an ali jan sean dale glen lea mia ida ian kai pia ole roy ross neil
scott craig gordon leslie marion dominique
"""
_FAMILY = """
smith johnson williams jones davis miller wilson moore taylor anderson thomas jackson harris martin thompson garcia
martinez robinson clark rodriguez lewis walker hall allen hernandez wright lopez scott adams nelson carter mitchell
perez roberts turner phillips campbell parker evans edwards collins stewart sanchez morris rogers reed cook morgan
murphy bailey rivera cooper richardson cox howard ward torres peterson gray ramirez watson brooks kelly sanders
price bennett wood barnes ross henderson coleman jenkins perry powell patterson hughes flores washington butler
simmons foster gonzales bryant alexander russell griffin diaz hayes myers ford hamilton graham sullivan wallace
woods cole jordan owens reynolds fisher ellis harrison gibson mcdonald cruz marshall ortiz gomez murray freeman
wells webb simpson stevens tucker porter hunter hicks crawford henry boyd mason morales kennedy warren dixon ramos
reyes burns gordon shaw holmes rice robertson hunt black daniels palmer mills nichols grant knight ferguson stone
hawkins dunn perkins hudson spencer gardner stephens payne pierce berry matthews arnold wagner willis watkins olson
carroll duncan snyder hart cunningham bradley lane andrews ruiz harper fox riley armstrong carpenter weaver greene
lawrence elliott chavez sims austin peters kelley franklin lawson muller mueller schmidt schneider fischer weber
meyer becker schulz hoffmann schafer koch bauer richter klein wolf schroder neumann schwarz zimmermann braun kruger
hofmann hartmann lange schmitt werner schmitz krause meier lehmann schmid schulze maier kohler herrmann konig walter
mayer huber kaiser fuchs lang scholz moller weiss jung hahn schubert vogel friedrich keller gunther frank berger
winkler roth beck lorenz baumann franke albrecht schuster simon ludwig bohm winter kraus schumacher kramer vogt
stein jager otto sommer gross seidel heinrich brandt haas schreiber graf dietrich ziegler kuhn engel pohl horn busch
bergmann voigt sauer wolff pfeiffer gerber steiner brunner bachmann frei baumgartner bernard dubois durand leroy
moreau petit laurent lefebvre michel bertrand roux fournier girard bonnet dupont lambert fontaine rousseau blanc
guerin boyer garnier chevalier legrand gauthier perrin robin clement morin nicolas gonzalez fernandez jimenez
alvarez moreno munoz romero alonso gutierrez navarro dominguez vazquez gil serrano blanco molina castro ortega
delgado suarez silva santos oliveira souza pereira lima carvalho ferreira costa rodrigues almeida nascimento alves
araujo ribeiro martins rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti
mancini giordano rizzo lombardi moretti barbieri fontana santoro mariani rinaldi caruso jansen janssen bakker visser
smit meijer mulder bos vos hendriks dekker brouwer dijkstra willems hansen johansen olsen larsen andersen nilsen
pedersen kristiansen jensen nielsen christensen rasmussen sorensen johansson andersson karlsson nilsson eriksson
larsson olsson persson svensson gustafsson nowak kowalski kowalska wisniewski wojcik kaminski lewandowski zielinski
szymanski kozlowski yilmaz kaya demir celik sahin yildiz ozturk khan ahmed hussain singh kumar sharma patel gupta
verma reddy nair wang zhang chen liu yang huang zhao nguyen tran kim park choi sato suzuki takahashi tanaka watanabe
yamamoto ivanov petrov smirnov popov horvat novak svoboda dvorak nagy kovacs toth szabo popescu papadopoulos
"""
_GIVENS = frozenset(_GIVEN.split())
_FAMILIES = frozenset(_FAMILY.split())
_TWO_MEANINGS = frozenset(_ALSO_WORDS.split())
_SURE = _GIVENS - _TWO_MEANINGS
"""Given names that are little else."""
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof|Herr|Frau|Mme|Mlle|Sra|Srta|Dhr|Mevr)"
TITLED = rf"(?:^|[^A-Za-z]){_TITLE}\.?\s+(?:{_TITLE}\.?\s+)?(?:[A-Z]\.\s*)?[A-Z][a-z]{{2,}}"
"""A person who is addressed by a title, for Polars: Dr. Keller."""
_CAPITAL = re.compile(r"[A-Z][A-Za-z'-]*\.?")
_LONGEST = 60
_OTHER = """
the and of for with new old north south east west upper lower city county state university college street road river
lake mount park bank air group company inc ltd corp saint san st los las la el de hospital school
"""
_OTHER_WORDS = frozenset(_OTHER.split())


def spell_plainly(text: str) -> str:
    """The text without accents.

    >>> spell_plainly("Müller")
    'Muller'
    """
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def is_full_name(text: str) -> bool:
    """Whether a text as a whole has the form of a person's given and family name.

    >>> [is_full_name(text) for text in ("Anna Keller", "KELLER, ANNA B.", "Paris Texas", "Grace Hospital")]
    [True, True, False, False]
    """
    plain = spell_plainly(text).strip()
    if not 5 <= len(plain) <= _LONGEST:
        return False
    if plain.isupper():
        plain = plain.title()
    family_first = plain.count(",") == 1
    words = plain.replace(",", " ").split()
    if not 2 <= len(words) <= 5 or not all(map(_CAPITAL.fullmatch, words)):
        return False
    parts = [word.rstrip(".").lower() for word in words]
    if any(part in _OTHER_WORDS for part in parts):
        return False
    long_parts = [part for part in parts if len(part) > 1]
    if len(long_parts) < 2:
        return False
    # Where the given name stands: first, or after the comma.
    given = {parts[0]} if not family_first else set(parts[1:])
    others = [part for part in long_parts if part not in given] or long_parts[1:]
    # Jean-Luc is called Jean.
    called = given | {part.partition("-")[0] for part in given}
    if called & _SURE:
        return any(part in _FAMILIES or part not in _GIVENS for part in others)
    return bool(called & (_GIVENS | _TWO_MEANINGS)) and any(part in _FAMILIES - _TWO_MEANINGS for part in others)


def is_given_name(text: str) -> bool:
    """Whether a text is a common given name and nothing else."""
    plain = spell_plainly(text).strip().lower()
    return plain in _SURE


def find_full_names(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which of the texts are a person's name as a whole."""
    return np.array([is_full_name(text) for text in texts], dtype=bool)


def find_given_names(texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which of the texts are given names and nothing else."""
    return np.array([is_given_name(text) for text in texts], dtype=bool)
