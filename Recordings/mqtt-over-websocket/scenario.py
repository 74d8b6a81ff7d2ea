"""A browser-like pair: MQTT 3.1.1 and 5.0 in binary WebSocket frames."""

import paho.mqtt.client as paho

from record_lib import Device

page = Device("page", paho.MQTTv311, transport="websockets", keepalive=1).connect()
page.subscribe("web/#", qos=1)
sensor = Device("sensor", paho.MQTTv5, transport="websockets").connect()
sensor.publish("web/short", "21.5", qos=1)
sensor.publish("web/long", "0123456789" * 30, qos=2)
page.received(2)
page.logged(1, "Received PINGRESP")
page.disconnect()
sensor.disconnect()
