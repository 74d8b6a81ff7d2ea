// A client made of MQTT.js. It connects and subscribes again by itself, for ever.
'use strict'
const { parseArgs } = require('util')
const mqtt = require('mqtt')

const { values: given, positionals: [role] } = parseArgs({
  allowPositionals: true,
  options: {
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'string', default: '1883' },
    topic: { type: 'string', default: 'reprise/agent' },
    qos: { type: 'string', default: '0' },
    version: { type: 'string', default: '311' },
    count: { type: 'string', default: '1' }
  }
})
const qos = Number(given.qos)
const client = mqtt.connect(`mqtt://${given.host}:${given.port}`, { protocolVersion: given.version === '5' ? 5 : 4 })
client.on('error', (error) => console.log(error.message))

// The library calls back when what was published is acknowledged.
function publish (number) {
  if (number > Number(given.count)) {
    client.end()
    return
  }
  client.publish(given.topic, `message ${number}`, { qos }, (error) => {
    if (error) throw error
    publish(number + 1)
  })
}

if (role === 'publish') {
  client.once('connect', () => publish(1))
} else {
  client.on('message', (topic, message) => console.log(topic, message.toString()))
  client.once('connect', () => client.subscribe(given.topic, { qos }))
}
