"""Opening the client of a profile: `local` starts the node, the other profiles read their token."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Literal

from pinui.disk import private_folder
from pinui.workspace.credentials import expiry, for_service
from pinui.workspace.errors import NoToken, WorkspaceError
from pinui.workspace.notices import give_notice
from pinui.workspace.profiles import ENVIRONMENT
from pinui.workspace.sentences import finished

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from pinui.node import Node
    from pinui.sdk.client import Client
    from pinui.sdk.models import ClientSettings, Dialect
    from pinui.sdk.secret import Secret
    from pinui.workspace.credentials import Credentials
    from pinui.workspace.models import Profile
    from pinui.workspace.paths import Paths

__all__ = ["OpenClient"]


class OpenClient:
    """The open client of one profile, with its addresses, its token's expiry, and the node that closes after it."""

    def __init__(
        self,
        client: Client,
        api_url: str,
        gateway_url: str,
        opened: AsyncExitStack,
        expires_at: datetime | None,
        kept_in: str,
        token: Secret | None,
    ) -> None:
        self.client = client
        self._token = token
        self.expires_at = expires_at
        """The token's own expiry date."""
        self.kept_in = kept_in
        """Where the token comes from, as in `Credential.origin`."""
        self.api_url = api_url
        self.gateway_url = gateway_url
        self._opened = opened

    @classmethod
    async def of(
        cls,
        profile: Profile,
        paths: Paths,
        credentials: Credentials,
        *,
        secret: Secret | None = None,
        retries: int | None = None,
        cid_version: Literal[0, 1] | None = None,
        on_wait: Callable[[float], None] | None = None,
        on_dialect: Callable[[Dialect], None] | None = None,
    ) -> OpenClient:
        """Open the client of a profile; a `secret` replaces the stored token."""
        from pinui.sdk.client import Client
        from pinui.sdk.models import ClientConfig

        expires_at: datetime | None = None
        kept_in = "nowhere"
        token: Secret | None = None
        async with AsyncExitStack() as stack:
            settings: ClientSettings = {
                "provider": profile.provider,
                "gateways": profile.gateways,
                "cid_version": cid_version,
                "on_wait": on_wait,
                "on_notice": give_notice,
            }
            if retries is not None:
                settings["retries"] = retries
            if profile.preset == "local":
                node = await stack.enter_async_context(_node(paths))
                settings["provider_token"], settings["pin_api_url"] = node.token, node.api_url
                settings["gateway_url"] = profile.gateway_url or node.gateway_url
            else:
                token = secret
                if token is None:
                    token, kept_in = await _token(profile, credentials)
                expires_at = expiry(token)
                settings |= {
                    "provider_token": token,
                    "pin_api_url": profile.api_url,
                    "gateway_url": profile.gateway_url,
                    "dialect": profile.dialect,
                    "known_dialect": profile.known_dialect,
                    "on_dialect": on_dialect,
                    "replication_min": profile.replication_min,
                    "replication_max": profile.replication_max,
                }
                if profile.gateway_key:
                    settings["gateway_key"] = (await credentials.read_gateway_key(profile.name)).secret
            try:
                config = ClientConfig(**settings)
            except ValueError as error:
                reason = str(error).replace("provider_token", "its token")
                raise WorkspaceError(f"The profile “{profile.name}” cannot be used: {finished(reason)}") from error
            client = await stack.enter_async_context(await Client.init(config))
            return cls(
                client, config.pin_api_url or "", config.gateway_url or "", stack.pop_all(), expires_at, kept_in, token
            )
        raise AssertionError  # the stack swallows nothing

    def account(self) -> str:
        """A text that is the same for the same account: made of the API's origin and the token, which it doesn't tell.

        It takes a moment, on purpose: a short password must not be found by trying.
        """
        if self._token is None:
            return "local"
        from hashlib import pbkdf2_hmac

        from pinui.sdk.urls import origin_text

        return pbkdf2_hmac("sha256", self._token.reveal().encode(), origin_text(self.api_url).encode(), 100_000).hex()

    async def aclose(self) -> None:
        """Close the client, then the node."""
        await self._opened.aclose()


def _node(paths: Paths) -> Node:
    from pinui.node import Node

    private_folder(paths.node)
    return Node(paths.node)


async def _token(profile: Profile, credentials: Credentials) -> tuple[Secret, str]:
    # The settings have the address of every token in the keyring. To ask the keyring takes a tenth of a second.
    may_be_kept = profile.traits.needs_token or profile.token_for is not None
    stored = await credentials.read(profile.name, from_keyring=may_be_kept)
    credential = for_service(stored, profile)
    if credential.secret:
        return credential.secret, credential.origin
    if not profile.traits.needs_token:
        from pinui.sdk.secret import Secret

        return Secret(""), "nowhere"
    variable = credentials.variable_for(profile.name)
    if profile.name == ENVIRONMENT:
        raise NoToken("PINUI_API_URL is set and there is no token for it.", hint="Set PINUI_TOKEN.")
    if stored.secret:
        raise NoToken(
            f"The profile “{profile.name}” has no token for this service. {credential.trouble}",
            hint=f"Enter one with `pinui profile add {profile.name}`, or set {variable}.",
        )
    if credential.trouble:  # it may have one, in a keyring that does not open
        raise NoToken(f"The profile “{profile.name}” has no token that could be read.", hint=credential.trouble)
    hint = f"Give it one with `pinui profile add {profile.name}`, or set {variable}."
    raise NoToken(f"The profile “{profile.name}” has no token.", hint=hint)
