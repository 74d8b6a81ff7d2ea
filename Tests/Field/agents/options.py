"""The options that all agents have in common."""

import argparse


def of_mqtt(text):
    """publish or subscribe, with what both take."""
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("role", choices=["publish", "subscribe"])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=1883)
    parser.add_argument("--topic", default="reprise/agent")
    parser.add_argument("--qos", type=int, default=0, choices=[0, 1, 2])
    parser.add_argument("--version", default="311", choices=["311", "5"])
    parser.add_argument("--count", type=int, default=1, help="how many messages are published")
    return parser.parse_args()


def messages(options):
    """What is published: texts that differ."""
    return [f"message {number}" for number in range(1, options.count + 1)]


def of_websocket(text):
    """serve with a port, or connect with a URL."""
    parser = argparse.ArgumentParser(description=text)
    roles = parser.add_subparsers(dest="role", required=True)
    serve = roles.add_parser("serve", help="echoes what clients send")
    serve.add_argument("--host", default="127.0.0.1")
    serve.add_argument("--port", type=int, default=9001)
    connect = roles.add_parser("connect", help="echoes what a server sends, until it closes")
    connect.add_argument("url")
    return parser.parse_args()
