"""Application default credentials that can say who they are. Loads google-auth: imported only where they're used."""

from __future__ import annotations

from dataclasses import dataclass

from reconciler.cloud.adc import ApplicationDefault


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose credentials, of which kind, found where; empty where they don't tell."""

    kind: str
    who: str = ""
    place: str = ""


class KnownDefault(ApplicationDefault):
    """Application default credentials, which tell more once they have been used: a metadata server is asked then."""

    def principal(self) -> Principal:
        """Who was found; the account that is impersonated is told by the settings."""
        describe = getattr(self._source, "get_cred_info", dict)  # google-auth has it since 2.36
        info: dict[str, str] = describe() or {}
        kind = info.get("credential_type") or type(self._source).__module__
        return Principal(kind, info.get("principal") or "", info.get("credential_source") or "")
