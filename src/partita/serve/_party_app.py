"""The application of a party: POST /ballot and GET /health beside the operating routes."""

import asyncio
import secrets
from collections.abc import Sequence
from typing import Any

from .. import __version__
from ._ballot_answers import identity_of
from ._key_requests import CHALLENGE, keys_schema, parse_question
from ._observer import note
from ._party_ballots import PartyBallots
from ._responses import Label, RequestRefusedError, json_bytes
from ._security import read_body
from ._service import OPERATIONS, Service, new_app
from ._web import BaseModel, FastAPI, Request, Response

PARTY_PATHS = ("/ballot", *OPERATIONS)


class Ballots(BaseModel):
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


def party_app(
    ballots: PartyBallots,
    service: Service,
    warnings: Sequence[str] = (),
    secret: bytes | None = None,
) -> FastAPI:
    """The application that answers with one submodel's ballots for a party's own rows.

    ``secret``: one for all processes of the party; None: a new one.
    """
    own = secrets.token_bytes(32) if secret is None else secret
    limits, metrics = service.limits, service.metrics
    app = new_app(service)
    app.state.ask_at = "/ballot"
    app.state.warnings = [*warnings, *([ballots.failure] if ballots.failure else [])]
    about: dict[str, Any] = {"status": "ok", "model": service.name, "partita": __version__}
    # a failure's text may quote a cell, and rows stay here: it is in the log only
    health_content = json_bytes(about | {"classes": ballots.classes, "warnings": list(warnings)})

    @app.post(
        "/ballot",
        summary="One submodel's ballots for the rows with these keys",
        response_model=Ballots,
        responses=service.refusals("The body is not valid JSON, or holds no list of keys"),
        dependencies=service.key_needed,
        openapi_extra=keys_schema(
            limits.max_rows, challenge={"type": "string", "pattern": f"^{CHALLENGE}$"}
        ),
    )
    async def ballot(request: Request) -> Response:
        try:
            body = await read_body(request, limits.max_bytes, limits.body_seconds)
        except asyncio.CancelledError as exc:
            raise RequestRefusedError(503, "the service is stopping: ask again later") from exc
        keys, challenge = parse_question(body, limits.max_rows)
        content = ballots.answer(keys, identity_of(own, challenge))
        metrics.rows(len(keys), ())
        note(request.scope, rows=len(keys))
        return Response(content, media_type="application/json")

    @app.get("/health", summary="Whether the party is up", response_model=PartyHealth)
    async def health() -> Response:
        return Response(health_content, media_type="application/json")

    return app
