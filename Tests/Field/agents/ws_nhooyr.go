// A peer made of nhooyr.io/websocket: ws_nhooyr serve --port PORT, or ws_nhooyr connect URL.
package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"nhooyr.io/websocket"
)

func echo(connection *websocket.Conn) {
	defer connection.Close(websocket.StatusInternalError, "")
	for {
		kind, message, err := connection.Read(context.Background())
		if err != nil {
			return
		}
		if err := connection.Write(context.Background(), kind, message); err != nil {
			return
		}
	}
}

func handle(writer http.ResponseWriter, request *http.Request) {
	connection, err := websocket.Accept(writer, request, nil)
	if err != nil {
		return
	}
	echo(connection)
}

func main() {
	if os.Args[1] == "serve" {
		log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[3], http.HandlerFunc(handle)))
	}
	connection, _, err := websocket.Dial(context.Background(), os.Args[2], nil)
	if err != nil {
		log.Fatal(err)
	}
	echo(connection)
}
