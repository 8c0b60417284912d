"""The web libraries, imported in one place, with one message where they are missing."""

from ..errors import MissingExtraError

try:
    import uvicorn
    from fastapi import Depends, FastAPI, Request, Response
    from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
    from pydantic import BaseModel
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect
except ImportError as exc:
    raise MissingExtraError("fastapi", "serving a model", "partita[serve]") from exc

__all__ = [
    "BaseModel",
    "ClientDisconnect",
    "Depends",
    "FastAPI",
    "HTTPAuthorizationCredentials",
    "HTTPBearer",
    "HTTPException",
    "Request",
    "Response",
    "uvicorn",
]
