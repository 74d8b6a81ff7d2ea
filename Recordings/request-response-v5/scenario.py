"""Requests with response topic and correlation data; then telemetry by topic alias."""

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes

from record_lib import Device, properties


def answer(client, userdata, request):
    client.publish(
        request.properties.ResponseTopic, b'{"ok":true}', qos=1,
        properties=properties(
            PacketTypes.PUBLISH, CorrelationData=request.properties.CorrelationData,
            UserProperty=[("served-by", "device"), ("served-by", "line 2")]))


device = Device("device", paho.MQTTv5)
device.client.on_message = answer
device.connect().subscribe("device/7/request/#", qos=1)

app = Device("app", paho.MQTTv5).connect()
app.subscribe("app/3/response", qos=1)
for number, method in enumerate((b"reboot", b"\x00\xff")):
    app.publish(
        "device/7/request/run", method, qos=1,
        properties=properties(
            PacketTypes.PUBLISH, ResponseTopic="app/3/response",
            CorrelationData=b"\x00\xfe" + bytes([number]), ContentType="application/octet-stream"))
    app.received(number + 1)

# The topic goes over the wire once, then its alias stands for it; a new topic may take the alias.
app.subscribe("telemetry/#", qos=0)
for topic, payload in (("telemetry/power", "1.1"), ("", "1.2"), ("", "1.3"), ("", "1.4")):
    device.publish(
        topic, payload, qos=1,
        properties=properties(PacketTypes.PUBLISH, TopicAlias=1, PayloadFormatIndicator=1))
app.received(6)
device.disconnect()
app.disconnect()
