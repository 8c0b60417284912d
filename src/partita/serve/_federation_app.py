"""The application of a coordinator: POST /certify takes keys, asks the parties, proves the rest.

Each request asks the parties itself, on connections of its own; nothing of one request is kept for
another. What parties sent is counted, and is in no log as they wrote it.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import __version__
from .._support import Array, json_value, log
from ._batching import RETRY_SECONDS
from ._federation import PartyAnswers, same_party
from ._key_requests import keys_schema, parse_keys
from ._metrics import Family
from ._observer import note
from ._parties_file import PartiesFile
from ._party_vote import silent_parties
from ._responses import Counts, RequestRefusedError, Row, json_bytes
from ._security import is_loopback, read_body
from ._service import OPERATIONS, Service, new_app
from ._web import BaseModel, FastAPI, Request, Response

FEDERATION_PATHS = ("/certify", *OPERATIONS)
ANSWERED, SILENT = "answered", "silent"


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
    counts: Counts
    rows: list[FederatedRow]
    parties: list[PartyState]


class FederationHealth(BaseModel):
    """The coordinator is up. warnings: what speaks against relying on its certificates."""

    status: str
    model: str
    partita: str
    proves: str | None
    counts: Counts
    warnings: list[str]


@dataclass(frozen=True)
class FederatedAnswer:
    """The body of a response, and what the metrics count of it."""

    content: bytes
    radii: tuple[int, ...]
    votes: tuple[int, ...]
    contradictions: tuple[int, ...]
    silent_rows: tuple[int, ...]


def party_families(names: Sequence[str]) -> tuple[Family, ...]:
    """What a coordinator counts of each party."""
    each = tuple((name,) for name in names)
    by_outcome = tuple((name, outcome) for name in names for outcome in (ANSWERED, SILENT))
    return (
        Family(
            "partita_party_requests_total",
            "counter",
            "Questions to each party, by whether it answered.",
            ("party", "outcome"),
            by_outcome,
        ),
        Family(
            "partita_party_seconds_total",
            "counter",
            "Seconds that each party took, or that it was waited for.",
            ("party",),
            each,
        ),
        Family(
            "partita_party_silent_rows_total",
            "counter",
            "Rows for which a party had no ballot.",
            ("party",),
            each,
        ),
        Family(
            "partita_party_votes_total",
            "counter",
            "Ballots of a party in rows with a radius of at least 1.",
            ("party",),
            each,
        ),
        Family(
            "partita_party_contradictions_total",
            "counter",
            "Those of them that contradict the certified outcome.",
            ("party",),
            each,
        ),
    )


def federation_app(file: PartiesFile, service: Service) -> FastAPI:
    """The application that certifies what parties answer; its metrics have party_families."""
    federation, limits, metrics = file.federation, service.limits, service.metrics
    names = federation.vote.names
    proven = _proven(file)
    thread = ThreadPoolExecutor(1, thread_name_prefix="certify")
    asking: set[int] = set()
    merged: set[int] = set()
    app = new_app(service)
    app.state.warnings = _warnings(file)
    about = {"status": "ok", "model": service.name, "partita": __version__}
    health_content = json_bytes(about | proven | {"warnings": app.state.warnings})

    @app.post(
        "/certify",
        summary="Ask the parties about rows, predict them and prove the predictions",
        response_model=FederatedCertified,
        responses=service.refusals("The body is not valid JSON, or holds no list of keys"),
        dependencies=service.key_needed,
        openapi_extra=keys_schema(limits.max_rows),
    )
    async def certify(request: Request) -> Response:
        if len(asking) >= limits.max_waiting:
            raise RequestRefusedError(
                429,
                f"{len(asking)} requests are waiting already: ask again in a moment",
                headers={"Retry-After": str(RETRY_SECONDS)},
            )
        asking.add(id(request))
        try:
            body = await read_body(request, limits.max_bytes, limits.body_seconds)
            answers = await federation.submit(parse_keys(body, limits.max_rows))
            loop = asyncio.get_running_loop()
            answer = await loop.run_in_executor(thread, certified, file, proven, answers)
        except asyncio.CancelledError as exc:
            raise RequestRefusedError(503, "the service is stopping: ask again later") from exc
        finally:
            asking.discard(id(request))
        count(answers, answer)
        silent = [name for name, why in zip(names, answers.reasons, strict=True) if why]
        note(
            request.scope,
            rows=len(answers.ballots),
            lowest_radius=min(answer.radii, default=None),
            silent=silent,
        )
        return Response(answer.content, media_type="application/json")

    def count(answers: PartyAnswers, answer: FederatedAnswer) -> None:
        for k, first in enumerate(answers.identities):
            if first != k and k not in merged:
                merged.add(k)
                log(f"warning: {same_party(names[first], names[k])}")
        metrics.rows(len(answers.ballots), answer.radii)
        for k, name in enumerate(names):
            outcome = SILENT if answers.reasons[k] else ANSWERED
            metrics.add("partita_party_requests_total", labels=(name, outcome))
            for family, amount in (
                ("partita_party_seconds_total", answers.seconds[k]),
                ("partita_party_silent_rows_total", answer.silent_rows[k]),
                ("partita_party_votes_total", answer.votes[k]),
                ("partita_party_contradictions_total", answer.contradictions[k]),
            ):
                metrics.add(family, amount, (name,))

    @app.get(
        "/health",
        summary="Whether the coordinator is up, and what it proves",
        response_model=FederationHealth,
    )
    async def health() -> Response:
        return Response(health_content, media_type="application/json")

    # wrong settings are found, and compiled code is loaded
    shape = (
        (1, len(names)) if federation.classes is None else (1, len(names), len(federation.classes))
    )
    nobody = tuple("" for _ in names)
    certified(file, proven, PartyAnswers(np.zeros(shape), nobody, (0.0,) * len(names)))
    return app


def certified(file: PartiesFile, proven: dict[str, Any], answers: PartyAnswers) -> FederatedAnswer:
    """Certify what the parties answered."""
    vote, ballots = file.federation.vote, answers.ballots
    width = (file.tolerance, file.relative)
    own = answers.identities or tuple(range(len(vote.names)))
    silent = silent_parties(ballots)
    parties = [
        {
            "name": name,
            "silent": reason or None,
            "same_as": None if own[k] == k else vote.names[own[k]],
        }
        for k, (name, reason) in enumerate(zip(vote.names, answers.reasons, strict=True))
    ]
    rows: list[dict[str, Any]]
    if vote.classes is None and width == (None, None):
        rows = [
            {"prediction": json_value(value), "radius": None, "runner_up": None}
            | {"critical_units": None, "radius_without_silence": None}
            for value in vote.predict(ballots)
        ]
        radii: tuple[int, ...] = ()
        votes = against = (0,) * len(vote.names)
    else:
        proof = vote.certify(ballots, *width, own)
        assert proof.silence is not None
        critical, without = vote.critical(ballots, *width, own), proof.silence.without
        rows = [
            {
                "prediction": json_value(proof.prediction[i]),
                "radius": int(proof.radius[i]),
                "runner_up": None if proof.runner_up is None else json_value(proof.runner_up[i]),
                "critical_units": _named(vote.names, critical[:, i]),
                "radius_without_silence": int(without[i]),
            }
            for i in range(len(ballots))
        ]
        radii = tuple(proof.radius.tolist())
        n_votes, n_against = vote.contradictions(ballots, proof, *width)
        votes, against = tuple(n_votes.tolist()), tuple(n_against.tolist())
    intervals = vote.intervals(ballots, own)
    for i, row in enumerate(rows):
        row["silent_units"] = _named(vote.names, silent[i])
        row["intervals"] = None
        if vote.classes is None:
            row["intervals"] = {
                str(r): [json_value(low[i]), json_value(high[i])]
                for r, (low, high) in intervals.items()
            }
    counts = proven["counts"] | {"total": len(set(own))}
    content = json_bytes(proven | {"counts": counts, "rows": rows, "parties": parties})
    return FederatedAnswer(content, radii, votes, against, tuple(silent.sum(axis=0).tolist()))


def _named(names: Sequence[str], chosen: Array) -> list[str]:
    return [names[k] for k in np.flatnonzero(chosen).tolist()]


def _proven(file: PartiesFile) -> dict[str, Any]:
    """What stays true up to the radius, and what that counts."""
    stays: str | None = None
    if file.federation.classes is not None:
        stays = "the prediction stays the same"
    elif file.tolerance is not None:
        stays = f"the prediction moves by at most {file.tolerance}"
    elif file.relative is not None:
        stays = f"the prediction moves by at most {file.relative} times its absolute value"
    total = len(file.federation.parties)
    return {"proves": stays, "counts": {"what": "parties", "total": total, "trusted": []}}


def _warnings(file: PartiesFile) -> list[str]:
    """Parties whose ballots anybody on the way could write."""
    return [
        f"the party {party.name!r} is asked without TLS: whoever is on the way can read its key "
        "and write its ballots"
        for party in file.federation.parties
        if not party.is_encrypted and not is_loopback(party.place[0])
    ]
