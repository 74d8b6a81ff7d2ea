"""Two quiet clients, one of MQTT 3.1.1 and one of 5.0, kept alive by PINGREQ."""

import paho.mqtt.client as paho

from record_lib import Device

second = Device("every-second", paho.MQTTv311, keepalive=1).connect()
other = Device("every-other-second", paho.MQTTv5, keepalive=2).connect()
second.subscribe("quiet/#")
second.logged(3, "Received PINGRESP")
other.publish("quiet/please", "a packet instead of a ping", qos=1)
second.received(1)
other.logged(2, "Received PINGRESP")
second.disconnect()
other.disconnect()
