"""The table of services tells the truth: it agrees with the providers' own Protocols."""

from typing import get_args

import pytest

from pinui.sdk.client import Client
from pinui.sdk.errors import Unsupported
from pinui.sdk.models import ClientConfig, ProviderName
from pinui.sdk.provider import KeepsEmptyFolders, TellsPeers
from pinui.sdk.traits import TRAITS

API = "http://127.0.0.1:9"


@pytest.mark.parametrize("name", get_args(ProviderName))
async def test_the_traits_of_a_service_are_those_of_its_provider(name: ProviderName) -> None:
    traits = TRAITS[name]
    async with await Client.init(ClientConfig(provider=name, provider_token="token", pin_api_url=API)) as client:
        assert traits.keeps_empty_folders == isinstance(client.provider, KeepsEmptyFolders)
        assert traits.replicates == isinstance(client.provider, TellsPeers)
        if not traits.takes_uploads:
            with pytest.raises(Unsupported):
                await client.upload(b"")


def test_each_provider_has_traits() -> None:
    assert set(TRAITS) == set(get_args(ProviderName))
