// A peer made of gorilla/websocket: ws_gorilla serve --port PORT, or ws_gorilla connect URL.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/gorilla/websocket"
)

var upgrader = websocket.Upgrader{}

func echo(connection *websocket.Conn) {
	defer connection.Close()
	for {
		kind, message, err := connection.ReadMessage()
		if err != nil {
			return
		}
		if err := connection.WriteMessage(kind, message); err != nil {
			return
		}
	}
}

func handle(writer http.ResponseWriter, request *http.Request) {
	connection, err := upgrader.Upgrade(writer, request, nil)
	if err != nil {
		return
	}
	echo(connection)
}

func main() {
	if os.Args[1] == "serve" {
		http.HandleFunc("/", handle)
		log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[3], nil))
	}
	connection, _, err := websocket.DefaultDialer.Dial(os.Args[2], nil)
	if err != nil {
		log.Fatal(err)
	}
	echo(connection)
}
