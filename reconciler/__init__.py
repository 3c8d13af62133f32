"""Declarative (GitOps) reconciler for Gemini Enterprise Agent Platform training clusters."""

__version__ = "0.1.0"
