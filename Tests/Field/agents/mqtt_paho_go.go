// A client made of paho.mqtt.golang, which speaks 3.1.1 alone. It connects again by itself, for ever.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// done waits until the library is done with what was asked of it.
func done(token mqtt.Token) {
	if token.Wait() && token.Error() != nil {
		log.Fatal(token.Error())
	}
}

func main() {
	flags := flag.NewFlagSet("publish|subscribe", flag.ExitOnError)
	host := flags.String("host", "127.0.0.1", "")
	port := flags.Int("port", 1883, "")
	topic := flags.String("topic", "reprise/agent", "")
	qos := flags.Int("qos", 0, "")
	version := flags.String("version", "311", "")
	count := flags.Int("count", 1, "how many messages are published")
	if len(os.Args) < 2 {
		log.Fatal("publish or subscribe")
	}
	flags.Parse(os.Args[2:])
	if *version != "311" {
		log.Fatal("paho.mqtt.golang speaks MQTT 3.1.1 alone")
	}
	options := mqtt.NewClientOptions().AddBroker(fmt.Sprintf("tcp://%s:%d", *host, *port))
	if os.Args[1] == "publish" {
		client := mqtt.NewClient(options)
		done(client.Connect())
		for number := 1; number <= *count; number++ {
			done(client.Publish(*topic, byte(*qos), false, fmt.Sprintf("message %d", number)))
		}
		client.Disconnect(250)
		return
	}
	// When it has connected, so that it is done again behind a connection that was lost.
	options.SetOnConnectHandler(func(client mqtt.Client) {
		client.Subscribe(*topic, byte(*qos), func(client mqtt.Client, message mqtt.Message) {
			fmt.Println(message.Topic(), string(message.Payload()))
		})
	})
	done(mqtt.NewClient(options).Connect())
	select {}
}
