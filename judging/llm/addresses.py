"""Which addresses a prompt may be sent to. Checked in the file, and again on what a name resolves to."""

import asyncio
import ipaddress
import socket
import unicodedata
from urllib.parse import SplitResult, urlsplit

from judging.errors import EndpointError

_PRIVATE_NAMES = ("localhost", "local", "internal", "lan", "home.arpa", "localdomain")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# All of IPv6 that is routed between networks.
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")


def check_base_url(url: str, *, place: str, allow_private: bool) -> str:
    """The base URL without a trailing slash, if it may be used.

    Raises:
        EndpointError: not http or https, no host, user info, a query or fragment, a bad port, or a
            loopback, private, link-local or metadata address that the file does not allow. User info is
            not repeated in the sentence, as it may hold a password.
    """
    if any(character.isspace() or not character.isprintable() for character in url) or "\\" in url:
        raise EndpointError(f"The base_url of {place} holds a space, a backslash or a control character.")
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError as error:
        raise EndpointError(f"The base_url of {place} is not a URL with a valid host and port.") from error
    if "@" in parts.netloc:
        raise EndpointError(
            f"The base_url of {place} holds user info. Name an environment variable in key_variable instead."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or not has_port:
        raise EndpointError(
            f"The base_url of {place} is {url[:80]!r}; expected http:// or https:// and a host."
        )
    if parts.query or parts.fragment:
        raise EndpointError(f"The base_url of {place} has a query or a fragment; give the path alone.")
    if not allow_private and is_private_host(parts.hostname):
        raise EndpointError(
            f"The base_url of {place} leads to {parts.hostname!r}, a private, loopback, link-local or "
            "metadata address. Set allow_private = true there if that is meant."
        )
    return url.rstrip("/")


def is_private_host(host: str) -> bool:
    """Whether a host, without asking a name server, is known not to be a public one."""
    # As a resolver folds it: `①②⑦。0.0.1` is 127.0.0.1.
    name = unicodedata.normalize("NFKC", host).replace("。", ".").rstrip(".").casefold()
    if any(name == private or name.endswith(f".{private}") for private in _PRIVATE_NAMES):
        return True
    address = _literal_address(name)
    if address is not None:
        return not is_public(address)
    return "." not in name


def is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    """Whether an address is globally reachable, looking through IPv4 addresses inside of IPv6 ones."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address not in _GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast


async def refuse_private_resolution(base_url: str, *, place: str) -> None:
    """Refuse a public name that leads to an address which is not public.

    A name that cannot be resolved passes: the call itself then reports the network fault.

    Raises:
        EndpointError: any resolved address is loopback, private, link-local or otherwise not public.
    """
    parts: SplitResult = urlsplit(base_url)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            parts.hostname, parts.port or 443, type=socket.SOCK_STREAM
        )
    except OSError:
        return
    for *_, address in found:
        if not is_public(ipaddress.ip_address(str(address[0]).partition("%")[0])):
            raise EndpointError(
                f"The host {parts.hostname!r} of {place} resolves to an address that is not public. "
                "Set allow_private = true there if that is meant."
            )


def _literal_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host spells out, in any form that the C library takes (`127.1`, `0x7f000001`)."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except (OSError, ValueError):
        return None
