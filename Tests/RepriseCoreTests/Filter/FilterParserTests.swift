import RepriseCore
import Testing

@Suite struct FilterParserTests {
  private func findMistake(in expression: String) -> FilterError? {
    do throws(FilterError) {
      _ = try SessionFilter(expression)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    "PUBLISH", "publish", "type == PUBLISH", "type != 'connect'", "from == client",
    "topic ~ a/+/c", "topic ~ \"#\"", "topic == 'a \\' b'", "topic in [a, 'b c', d/e]",
    "qos >= 1", "qos in [1,2]", "code == 0x87", "retain", "not dup", "retain == false",
    "retain != true", "time > 2026-11-21T07:39:01.5Z", "time < 07:39", "time >= 07:39:01.25",
    "time <= +1.5s", "time <= +2m and time > +10ms", "protocol == mqtt-5.0", "protocol == mqtt",
    "payload contains \"x y\"", "payload ~ x", "client == 7", "client ~ sensor", "filter == '#'",
    "((PUBLISH))", "!PUBLISH && !(qos == 0 || retain)", "fault and frame in [1]", "connection != 3",
    "length < 10", "id == 65535", "PUBLISH or CLOSE or GAP or MALFORMED or OPEN",
    "payload.a.b == 1", "payload.0 in [a, 'b', 3]", "port == 80", "address ~ 10.",
    "username == 'a b'",
  ])
  func takes(expression: String) {
    let mistake = findMistake(in: expression)
    #expect(mistake == nil, "\(mistake?.description ?? "")")
  }

  @Test(arguments: [
    ("", 1, "a field"), ("topc == a", 1, "did you mean topic?"), ("PUBLICH", 1, "PUBLISH"),
    ("qos", 4, "compare qos by"), ("qos ==", 7, "a value for qos"), ("qos == x", 8, "a number"),
    ("qos = 1", 5, "write =="), ("qos ~ 1", 5, "qos is compared by"), ("qos == 1 2", 10, "'and'"),
    ("qos == 1 and", 13, "a field"), ("(qos == 1", 10, "a ) is missing"), ("qos == 1)", 9, "no ("),
    ("type == CONNCT", 9, "did you mean CONNECT?"), ("from == broker", 9, "client, server"),
    ("protocol == mqtt-5", 13, "did you mean mqtt-5.0?"), ("topic == 'a", 10, "closing '"),
    ("topic ~ a/#/b", 9, "#"), ("topic ~ a+", 9, "+"), ("time > now", 8, "no time"),
    ("time > 2026-13-01T00:00:00Z", 8, "no time"), ("time > 24:00", 8, "no time"),
    ("time < +5", 8, "no time"), ("time < +99999999999999h", 8, "no time"),
    ("qos in 1", 8, "in [A, B]"), ("qos in [1", 10, ", or ]"), ("retain == 1", 11, "true or false"),
    ("retain < true", 8, "retain is compared by"), ("x and a", 1, "neither"),
    ("PUBLISH & GAP", 9, "&&"),
    ("PUBLISH \u{7} GAP", 9, "no meaning"), ("qos == 99999999999999999999", 8, "a number"),
    ("topic < a", 7, "topic is compared by"), ("and", 1, "a field"),
    ("payload. == 1", 1, "neither"), ("payload.a", 10, "compare payload.a by"),
    ("payload.a <", 12, "a value for payload.a"), ("payload.a in 1", 14, "in [A, B]"),
    ("topic.a == 1", 1, "neither"), ("port == x", 9, "a number"),
    ("code == not-autorized", 9, "did you mean not-authorized?"), ("code > banned", 6, "by == !="),
  ])
  func pointsAtAMistake(expression: String, column: Int, part: String) throws {
    let mistake = try #require(findMistake(in: expression))
    #expect(mistake.column == column, "\(mistake)")
    #expect(mistake.message.contains(part), "\(mistake)")
  }

  @Test(arguments: [
    ("PUBLISH and topc == a", "at column 13: topc == a"), ("topic ==", "at column 9, its end"),
    (
      "PUBLISH and topc == 'a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p'",
      "at column 13: topc == 'a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p…"
    ),
  ])
  func saysWhatStandsAtTheMistake(expression: String, place: String) throws {
    let mistake = try #require(findMistake(in: expression))
    #expect(mistake.place == place)
  }

  @Test func showsNoControlCharacter() throws {
    let mistake = try #require(findMistake(in: "'\u{1B}[2J\n' x"))
    #expect(mistake.place == "at column 1: '\\u{1b}[2J ' x")
    let start = try #require(findMistake(in: "\u{1B}[2J\n x"))
    #expect(start.place == "at column 1: \\u{1b}[2J  x")
  }

  @Test(arguments: ["(", "not ", "!"])
  func limitsNesting(part: String) throws {
    let expression = String(repeating: part, count: 10_000) + "PUBLISH"
    #expect(try #require(findMistake(in: expression)).message.contains("deep"))
  }

  @Test(arguments: [
    ("tpye", "type"), ("TYPE", "type"), ("formt", "format"), ("fromat", "format"), ("x", nil),
    ("output-file", nil), ("", nil), ("out", "output"), ("ou", nil), ("ouput", "output"),
  ])
  func findsTheNearestName(typed: String, name: String?) {
    #expect(NearestName.find(typed, in: ["type", "format", "output"]) == name)
  }
}
