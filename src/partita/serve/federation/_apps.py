"""The applications of a federation: the coordinator's POST /certify, and a party's POST /ballot.

Each request to the coordinator asks the parties itself, on connections of its own; nothing of one
request is kept for another. What parties sent is counted, and is in no log as they wrote it.

A party scores all its rows once, when it starts: an answer is a look-up, and takes as long for one
key as for another. Rows stay there; nothing but ballots is ever returned. A row's ballot depends on
that row alone (theory, section 1).
"""

import asyncio
import re
import secrets
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

import numpy as np
from fastapi import FastAPI, Request, Response
from pydantic import BaseModel

from ..._support import Array, JsonObject, PathLike, json_value, log
from ...ensemble import FittedEnsemble, FixedVote, were_trained_jointly
from ...errors import InputError
from ...partition import Partition
from ...tables import TEXT, File, open_file
from ...workflow import StoredModel, known_kinds
from .._app import OPERATIONS, Service, add_health, new_app, note
from .._certifier import too_many
from .._metrics import Family, counter
from .._rows import (
    RadiusCounts,
    RequestRefusedError,
    Row,
    answer_rows,
    json_bytes,
    json_response,
    list_schema,
    listed_as,
    parse_body,
    what_is_proven,
)
from .._security import is_loopback
from ._client import Label, answer_bytes, identity_of
from ._federation import PartiesFile, PartyAnswers, check_keys, same_party, silent_parties

COORDINATOR_PATHS = ("/certify", *OPERATIONS)
PARTY_PATHS = ("/ballot", *OPERATIONS)
ANSWERED, SILENT = "answered", "silent"
CHALLENGE = "[0-9a-f]{64}"
KEY_SCHEMA: JsonObject = {"type": ["string", "integer"]}
INVALID_KEYS = "The body is not valid JSON, or holds no list of keys"


def parse_keys(body: bytes, max_rows: int) -> list[str]:
    """Return the keys in a request's body, as texts."""
    return _parse(body, max_rows)[0]


def parse_question(body: bytes, max_rows: int) -> tuple[list[str], bytes | None]:
    """Return the keys that a party is asked for, and the challenge, if there is one."""
    keys, content = _parse(body, max_rows, "challenge")
    if "challenge" not in content:
        return keys, None
    challenge = content["challenge"]
    if not (isinstance(challenge, str) and re.fullmatch(CHALLENGE, challenge)):
        raise RequestRefusedError(
            422,
            "the challenge is not 64 hexadecimal digits in lower case: send such, or leave it out",
        )
    return keys, bytes.fromhex(challenge)


def _parse(body: bytes, max_rows: int, *further: str) -> tuple[list[str], JsonObject]:
    try:
        content = parse_body(body)
        keys = check_keys(listed_as("keys", content, max_rows, "[key, ...]", further))
    except RecursionError as exc:
        raise RequestRefusedError(
            422, "the body is nested too deep: a key is a text or a whole number"
        ) from exc
    except InputError as exc:
        raise RequestRefusedError(422, str(exc)) from exc
    assert isinstance(content, dict)
    return keys, content


# ---- the coordinator ----


class FederatedRow(Row):
    """One row's prediction and its proof; units are parties.

    radius_without_silence: the radius if the silent parties had sided with the prediction; what
    silence cost is at most the difference.
    """

    radius_without_silence: int | None


class PartyState(BaseModel):
    """A party: null, or why it was silent in all rows of this request.

    same_as: null, or the party above that it was shown to be: the two count once.
    """

    name: str
    silent: str | None
    same_as: str | None


class FederatedCertified(BaseModel):
    """What is proven up to the radius, the rows in the order of the keys, and who was silent."""

    proves: str | None
    counts: RadiusCounts
    rows: list[FederatedRow]
    parties: list[PartyState]


class FederationHealth(BaseModel):
    """The coordinator is up. warnings: what speaks against relying on its certificates."""

    status: str
    model: str
    partita: str
    proves: str | None
    counts: RadiusCounts
    warnings: list[str]


@dataclass(frozen=True)
class FederatedAnswer:
    """The body of a response, its radii, and what is counted of each party, by metric."""

    content: bytes
    radii: tuple[int, ...]
    counted: Mapping[str, Sequence[float]]


def party_families(names: Sequence[str]) -> tuple[Family, ...]:
    """Return what a coordinator counts of each party."""
    each = [{"party": name} for name in names]
    outcomes = [one | {"outcome": outcome} for one in each for outcome in (ANSWERED, SILENT)]
    meaning = "Questions to each party, by whether it answered."
    return (
        counter("partita_party_requests_total", meaning, outcomes),
        *(
            counter(f"partita_party_{name}_total", meaning, each)
            for name, meaning in (
                ("seconds", "Seconds that each party took, or that it was waited for."),
                ("silent_rows", "Rows for which a party had no ballot."),
                ("votes", "Ballots of a party in rows with a radius of at least 1."),
                ("contradictions", "Those of them that contradict the certified outcome."),
            )
        ),
    )


def coordinator_app(file: PartiesFile, service: Service) -> FastAPI:
    """Make the application that certifies what parties answer; its metrics have party_families."""
    federation, settings, metrics = file.federation, service.settings, service.metrics
    names, n_parties = federation.vote.names, len(federation.parties)
    proves = what_is_proven(federation.classes is not None, file.tolerance, file.relative)
    proven: JsonObject = {
        "proves": proves,
        "counts": {"what": "parties", "total": n_parties, "trusted": []},
    }
    thread = ThreadPoolExecutor(1, thread_name_prefix="certify")
    room = asyncio.Semaphore(settings.max_waiting)
    merged: set[int] = set()
    app = new_app(service)
    app.state.warnings = [
        f"the party {party.name!r} is asked without TLS: others on the way can read its key "
        "and write its ballots"
        for party in federation.parties
        if not party.is_encrypted and not is_loopback(party.place[0])
    ]

    @app.post(
        "/certify",
        summary="Ask the parties about rows, predict them and prove the predictions",
        response_model=FederatedCertified,
        responses=service.refusals(INVALID_KEYS),
        dependencies=service.key_needed,
        openapi_extra=list_schema("keys", KEY_SCHEMA, settings.max_rows),
    )
    async def certify(request: Request) -> Response:
        if room.locked():
            raise too_many(settings.max_waiting)
        async with room:
            keys = parse_keys(await service.body(request), settings.max_rows)
            answers = await federation.submit(keys)
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(thread, certified, file, proven, answers)
        count(answers, answer)
        silent = [name for name, why in zip(names, answers.reasons, strict=True) if why]
        lowest = min(answer.radii, default=None)
        note(request.scope, rows=len(keys), lowest_radius=lowest, silent=silent)
        return json_response(answer.content)

    def count(answers: PartyAnswers, answer: FederatedAnswer) -> None:
        for k, first in enumerate(answers.identities):
            if first != k and k not in merged:
                merged.add(k)
                log(f"warning: {same_party(names[first], names[k])}")
        metrics.rows(len(answers.ballots), answer.radii)
        for k, name in enumerate(names):
            outcome = SILENT if answers.reasons[k] else ANSWERED
            metrics.add("partita_party_requests_total", party=name, outcome=outcome)
            for counted, amounts in answer.counted.items():
                metrics.add(f"partita_party_{counted}_total", amounts[k], party=name)

    summary = "Whether the coordinator is up, and what it proves"
    add_health(app, summary, FederationHealth, proven | {"warnings": app.state.warnings})
    # wrong settings are found, and compiled code is loaded
    nothing = np.zeros_like(federation.vote.empty_answers(1))
    certified(file, proven, PartyAnswers(nothing, ("",) * n_parties, (0.0,) * n_parties))
    return app


def certified(
    file: PartiesFile, proven: Mapping[str, object], answers: PartyAnswers
) -> FederatedAnswer:
    """Certify what the parties answered."""
    vote, ballots = file.federation.vote, answers.ballots
    names, own = vote.names, answers.identities or tuple(range(len(vote.names)))
    width, silent = (file.tolerance, file.relative), silent_parties(ballots)
    intervals = vote.intervals(ballots, own) if vote.classes is None else None
    possible, classes = vote.label_sets(ballots, file.label_sets, own), vote.classes or ()
    counted: dict[str, Sequence[float]] = {
        "seconds": answers.seconds,
        "silent_rows": silent.sum(axis=0).tolist(),
    }
    if vote.classes is None and width == (None, None):
        prediction, radii, without = vote.predict(ballots), (), [None] * len(ballots)
        rows = answer_rows(names, prediction, None, None, intervals, silent, possible, classes)
    else:
        proof = vote.certify(ballots, *width, own)
        assert proof.silence is not None
        critical = vote.critical(ballots, *width, own)
        rows = answer_rows(
            names, proof.prediction, proof, critical, intervals, silent, possible, classes
        )
        radii, without = tuple(proof.radius.tolist()), proof.silence.without.tolist()
        votes, against = vote.contradictions(ballots, proof, *width)
        counted |= {"votes": votes.tolist(), "contradictions": against.tolist()}
    parties = [
        {"name": name, "silent": reason or None, "same_as": None if first == k else names[first]}
        for k, (name, reason, first) in enumerate(zip(names, answers.reasons, own, strict=True))
    ]
    content: JsonObject = {
        "proves": proven["proves"],
        "counts": {"what": "parties", "total": len(set(own)), "trusted": []},
        "rows": [
            row | {"radius_without_silence": radius}
            for row, radius in zip(rows, without, strict=True)
        ],
        "parties": parties,
    }
    return FederatedAnswer(json_bytes(content), radii, counted)


# ---- a party ----


class BallotAnswer(BaseModel):
    """A submodel's ballots for the rows with these keys, in their order.

    classes: the labels in the order of the scores; null where a ballot is one value. ballots: null
    for a row that the party does not have. identity: what this party alone makes of the challenge;
    null without one.
    """

    classes: list[Label] | None
    ballots: list[list[float] | float | None]
    identity: str | None


class PartyHealth(BaseModel):
    """The party is up. warnings: what speaks against relying on its submodel."""

    status: str
    model: str
    partita: str
    classes: list[Label] | None
    warnings: list[str]


@dataclass(frozen=True, eq=False)
class PartyBallots:
    """The ballots of one submodel for a party's rows.

    Attributes
    ----------
    classes : list or None
        The labels in the order of the scores; None for values.
    rows : dict of str to int
        Where the row with each key is.
    ballots : array
        float32 (rows, classes) or float64 (rows,).
    failure : str
        Why the submodel cast a fixed vote in some rows; empty where it did not.
    """

    classes: list[Label] | None
    rows: Mapping[str, int]
    ballots: Array
    failure: str = ""

    @classmethod
    def of(cls, stored: StoredModel, table: PathLike, key: str, submodel: str | int | None) -> Self:
        """Score a party's table with one submodel of a stored model."""
        model = stored.model
        t = find_submodel(model, submodel)
        kinds, names = known_kinds(model), list(model.feature_names_in_)
        own = {names[column]: kinds[names[column]] for column in model.columns_of(t)}
        if key in own:
            raise InputError(
                f"key names {key!r}, which the submodel learns from: give a column that only "
                "names rows"
            )
        file = open_file(table, "table", kinds=own | {key: TEXT}, csv=stored.schema.csv)
        for name in (key, *own):
            file.check_column(name, "key" if name == key else "the submodel")
        X = file.table(own).take_all()
        ballots, failure = model.score_submodel(t, X)
        if isinstance(model.estimators_[t], FixedVote):
            failure = model.estimators_[t].cause
        labels = getattr(model, "classes_", None)
        classes = None if labels is None else json_value(np.asarray(labels))
        return cls(classes, _positions(file, key), np.asarray(ballots), failure)

    def answer(self, keys: Sequence[str], identity: str | None = None) -> bytes:
        """Write the body of an answer: a ballot for each key, null where there is no such row."""
        found = np.array([self.rows.get(key, -1) for key in keys])
        ballots = self.ballots[found]
        ballots[found < 0] = np.nan
        return answer_bytes(self.classes, ballots, identity)


def find_submodel(model: FittedEnsemble, submodel: str | int | None) -> int:
    """Return the position of a submodel, given by that or by the name of one of its units."""
    if not isinstance(model.partition_, Partition) or were_trained_jointly(model.estimators_):
        raise InputError(
            "the model's submodels share columns or were trained jointly, so that none is one "
            "party's alone: fit a FeaturePartitionClassifier or FeaturePartitionRegressor with "
            "spread=1"
        )
    n_submodels, names = len(model.partition_), list(model.units_.names)
    if submodel is None:
        if n_submodels == 1:
            return 0
        raise InputError(
            f"submodel is missing, and the model has {n_submodels}: give a number from 0 to "
            f"{n_submodels - 1}, or the name of one of its {model.units_.kind}"
        )
    if isinstance(submodel, str) and submodel in names:
        unit = names.index(submodel)
        return next(t for t in range(n_submodels) if unit in model.partition_[t])
    text = str(submodel)
    if text.isdecimal() and int(text) < n_submodels:
        return int(text)
    shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
    raise InputError(
        f"submodel is {submodel!r}: give a number from 0 to {n_submodels - 1}, or one of the "
        f"{model.units_.kind} {shown}"
    )


def _positions(file: File, key: str) -> dict[str, int]:
    """Return where the row with each key is; an error where a key is missing or stands twice."""
    positions: dict[str, int] = {}
    for i, value in enumerate(file.arrow([key]).column(key).to_pylist()):
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            raise InputError(
                f"row {i} of {str(file.path)!r} has {value!r} as its key: a key must be a text or "
                "a whole number"
            )
        first = positions.setdefault(str(value), i)
        if first != i:
            raise InputError(
                f"rows {first} and {i} of {str(file.path)!r} have the same key {value!r}: keep one"
            )
    return positions


def party_app(
    ballots: PartyBallots,
    service: Service,
    warnings: Sequence[str] = (),
    secret: bytes | None = None,
) -> FastAPI:
    """Make the application that answers with one submodel's ballots for a party's own rows.

    ``secret``: one for all processes of the party; None: a new one.
    """
    own = secrets.token_bytes(32) if secret is None else secret
    settings, metrics = service.settings, service.metrics
    app = new_app(service)
    app.state.ask_at = "/ballot"
    app.state.warnings = [*warnings, *([ballots.failure] if ballots.failure else [])]

    @app.post(
        "/ballot",
        summary="One submodel's ballots for the rows with these keys",
        response_model=BallotAnswer,
        responses=service.refusals(INVALID_KEYS),
        dependencies=service.key_needed,
        openapi_extra=list_schema(
            "keys",
            KEY_SCHEMA,
            settings.max_rows,
            challenge={"type": "string", "pattern": f"^{CHALLENGE}$"},
        ),
    )
    async def ballot(request: Request) -> Response:
        keys, challenge = parse_question(await service.body(request), settings.max_rows)
        content = ballots.answer(keys, identity_of(own, challenge))
        metrics.rows(len(keys), ())
        note(request.scope, rows=len(keys))
        return json_response(content)

    # a failure's text may quote a cell, and rows stay here: it is in the log only
    about = {"classes": ballots.classes, "warnings": list(warnings)}
    add_health(app, "Whether the party is up", PartyHealth, about)
    return app
