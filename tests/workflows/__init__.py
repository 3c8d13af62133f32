"""The workflows' steps, executed as a runner would, against stand-ins for GitHub and the service."""
