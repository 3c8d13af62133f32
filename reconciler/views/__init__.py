"""What people and machines read: values in, text out. A view compares nothing, prints nothing and reads no environment.

Every text ends in exactly one newline. Text from files and from the service passes `safe` on its way to people.
"""
