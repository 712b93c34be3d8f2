"""Which proxy a call would take: that of the environment, where the deployer allows it, or none."""

import urllib.request
from urllib.parse import urlsplit


def effective_proxy(base_url: str, *, uses_environment_proxies: bool) -> str | None:
    """Address of the proxy between this process and an endpoint, without its credentials.

    None when calls go straight: the environment's proxies are not allowed, none is set for the address's
    scheme, or NO_PROXY leaves the host out.
    """
    if not uses_environment_proxies:
        return None
    target = urlsplit(base_url)
    proxies = urllib.request.getproxies_environment()
    proxy = proxies.get(target.scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(target.netloc.rpartition("@")[2]):
        return None
    address = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    return f"{address.scheme}://{address.netloc.rpartition('@')[2]}"
