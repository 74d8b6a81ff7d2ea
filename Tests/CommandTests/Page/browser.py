"""A headless Chromium that shows one page, driven by its own protocol (CDP) over a WebSocket."""

import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

from websockets.sync.client import connect

PATIENCE = 180


class Browser:
    """Chromium with one tab; what the page says in its console is kept."""

    def __init__(self):
        program = shutil.which("chromium")
        if program is None:
            raise SystemExit("no chromium on the PATH; 'make setup' installs it")
        self.home = tempfile.mkdtemp(prefix="reprise-chromium-")
        # Without a sandbox, which root can't have, nor who may make no namespaces: it shows pages of ours.
        words = [program, "--headless", "--no-sandbox", "--remote-debugging-port=0", "--disable-gpu", "--no-first-run",
                 "--disable-dev-shm-usage",
                 "--disable-extensions", "--disable-background-networking", "--hide-scrollbars",
                 f"--user-data-dir={self.home}", "about:blank"]
        # Nothing of what the tests of memory set.
        environment = {"PATH": os.environ["PATH"], "HOME": self.home}
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=environment)
        said = ""
        for line in self.process.stderr:
            said += line
            if match := re.search(r"ws://127\.0\.0\.1:\d+/\S+", line):
                break
        else:
            raise SystemExit(f"chromium did not start: {said}")
        # So that what it says later fills no pipe.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.socket = connect(match[0], max_size=None, open_timeout=PATIENCE)
        self.count = 0
        self.session = None
        self.console = []
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Log"]:
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = self.receive()
            if answer.get("id") == self.count:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]

    def receive(self):
        answer = json.loads(self.socket.recv(timeout=PATIENCE))
        method = answer.get("method")
        if method == "Runtime.exceptionThrown":
            details = answer["params"]["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled":
            words = [str(each.get("value", each.get("description"))) for each in answer["params"]["args"]]
            self.console.append(f"{answer['params']['type']}: {' '.join(words)}")
        elif method == "Log.entryAdded":
            self.console.append(answer["params"]["entry"]["text"])
        if method:
            self.events.append(method)
        return answer

    def resize(self, width, height, scheme="light", media=""):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        self.events.clear()
        # A document of its own each time: another fragment alone would load nothing.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of an expression of JavaScript."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(f"{script}: {details.get('exception', {}).get('description', details)}")
        return answer["result"].get("value")

    def ask(self, script):
        """The value of an expression; None where the page went on to another one before it had it."""
        try:
            return self.run(script)
        except AssertionError as error:
            if "Inspected target navigated or closed" in str(error):
                return None
            raise

    def wait(self, script):
        """Waits until an expression is true, as long as there is patience."""
        end = time.monotonic() + PATIENCE
        while not self.ask(script):
            if time.monotonic() > end:
                raise AssertionError(f"never true: {script}")
            self.ask("new Promise((done) => requestAnimationFrame(done))")

    def press(self, key, text=""):
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}.get(key, 0)
        typed = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **typed)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        place = self.run(f"""(() => {{
            const box = document.querySelector({json.dumps(selector)});
            box.scrollIntoView({{ block: "nearest" }});
            const {{ x, y, width, height }} = box.getBoundingClientRect();
            return [x + width / 2, y + height / 2];
        }})()""")
        for kind in ["mousePressed", "mouseReleased"]:
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
