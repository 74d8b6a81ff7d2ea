#!/usr/bin/env bash
# ActiveMQ with its MQTT transport on a port of 127.0.0.1, in the foreground, with nothing of the machine's own configuration:
#   activemq.sh PORT
# shellcheck source=Tests/Field/server-lib.sh
. "$(dirname "$0")/server-lib.sh"
home=/usr/share/activemq
[ -e "$home/bin/activemq.jar" ] || { echo "activemq.sh: apt-get install --no-install-recommends activemq libmqtt-client-java" >&2; exit 2; }
# What the transport for MQTT takes to pieces is in a package of its own, which ActiveMQ's does not link.
mkdir "$work/lib"
ln -s /usr/share/java/{mqtt-client,hawtdispatch,hawtdispatch-transport}.jar "$work/lib/"
cat >"$work/activemq.xml" <<END
<beans xmlns="http://www.springframework.org/schema/beans" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
  http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
  <broker xmlns="http://activemq.apache.org/schema/core" useJmx="false" brokerName="field" dataDirectory="$work/data">
    <persistenceAdapter><kahaDB directory="$work/data/kahadb"/></persistenceAdapter>
    <transportConnectors><transportConnector name="mqtt" uri="mqtt://127.0.0.1:$1"/></transportConnectors>
  </broker>
</beans>
END
serve java -Dactivemq.home="$home" -Dactivemq.base="$work" -jar "$home/bin/activemq.jar" start \
  "xbean:file:$work/activemq.xml"
