// A client made of FuseSource's mqtt-client, which speaks 3.1 and 3.1.1. It connects and subscribes again by itself, for ever.

import java.util.HashMap;
import java.util.Map;
import org.fusesource.mqtt.client.BlockingConnection;
import org.fusesource.mqtt.client.MQTT;
import org.fusesource.mqtt.client.Message;
import org.fusesource.mqtt.client.QoS;
import org.fusesource.mqtt.client.Topic;

class MqttFuseSource {
  public static void main(String[] arguments) throws Exception {
    Map<String, String> given = new HashMap<>(Map.of(
        "--host", "127.0.0.1", "--port", "1883", "--topic", "reprise/agent", "--qos", "0", "--version", "311", "--count", "1"));
    for (int place = 1; place + 1 < arguments.length; place += 2) {
      given.put(arguments[place], arguments[place + 1]);
    }
    if (!given.get("--version").equals("311")) {
      System.err.println("FuseSource's mqtt-client speaks MQTT 3.1 and 3.1.1 alone");
      System.exit(1);
    }
    String topic = given.get("--topic");
    QoS qos = QoS.values()[Integer.parseInt(given.get("--qos"))];
    MQTT mqtt = new MQTT();
    mqtt.setHost(given.get("--host"), Integer.parseInt(given.get("--port")));
    // Without it the library speaks 3.1.
    mqtt.setVersion("3.1.1");
    BlockingConnection connection = mqtt.blockingConnection();
    connection.connect();
    if (arguments[0].equals("publish")) {
      for (int number = 1; number <= Integer.parseInt(given.get("--count")); number++) {
        connection.publish(topic, ("message " + number).getBytes(), qos, false);
      }
      connection.disconnect();
      return;
    }
    connection.subscribe(new Topic[] {new Topic(topic, qos)});
    while (true) {
      Message message = connection.receive();
      System.out.println(message.getTopic() + " " + new String(message.getPayload()));
      message.ack();
    }
  }
}
