"""Tokens that open pages: sent as a header, or once in a link, after which a cookie of the browser has it."""

from __future__ import annotations

import hmac

from aiohttp import web

from bot.platforms.web.http.requests import ApiError


class Token:
    """One token, and the page that a link with it opens; without a `secret` it opens nothing."""

    def __init__(self, secret: str, cookie: str, page: str) -> None:
        self._secret = secret.strip()
        self._cookie = cookie
        self._page = page

    def __bool__(self) -> bool:
        return bool(self._secret)

    @property
    def link(self) -> str:
        """Return the path that opens the page."""
        return f"{self._page}?token={self._secret}" if self._secret else self._page

    def opened(self, request: web.Request) -> web.Response | None:
        """Return the way on, with the cookie, for a request that has the token in its address."""
        given = request.query.get("token", "")
        if not self._is(given):
            return None
        response = web.Response(status=303, headers={"Location": self._page})
        response.set_cookie(self._cookie, given, httponly=True, samesite="Strict", path="/")
        return response

    def admit(self, request: web.Request, otherwise: str) -> None:
        """Raise ApiError with that sentence unless a request has the token, as a header or a cookie."""
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        if not (self._is(bearer) or self._is(request.cookies.get(self._cookie, ""))):
            raise ApiError(401, otherwise)

    def _is(self, given: str) -> bool:
        # a header may hold any bytes, which then stand in the text as halves of surrogate pairs
        sent, secret = given.encode("utf-8", "surrogatepass"), self._secret.encode("utf-8", "surrogatepass")
        return bool(self._secret) and hmac.compare_digest(sent, secret)
