"""The web libraries, imported in one place, with one message where they are missing."""

from ..errors import MissingExtraError

try:
    import h11
    import uvicorn
    from fastapi import Depends, FastAPI, Request, Response
    from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
    from pydantic import BaseModel
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError as exc:
    raise MissingExtraError("fastapi", "serving a model", "partita[serve]") from exc

__all__ = [
    "BaseModel",
    "ClientDisconnect",
    "Depends",
    "FastAPI",
    "H11Protocol",
    "HTTPAuthorizationCredentials",
    "HTTPBearer",
    "HTTPException",
    "Request",
    "Response",
    "h11",
    "uvicorn",
]
