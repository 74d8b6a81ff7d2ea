import Foundation
import TestSupport
import Testing

/// Completion in the shells that it is written for.
@Suite struct CompletionTests {
  enum Shell: String, CaseIterable {
    case bash, zsh, fish
  }

  private let scratch = Scratch()

  init() throws {
    try scratch.write("", to: "unique.pcap")
  }

  /// What a shell makes of the beginning of a line: the candidates, or all that it writes to its terminal.
  private func complete(_ typed: String, in shell: Shell) throws -> [String] {
    // bash takes an equals sign for a word, and a word that is not begun for an empty one.
    let words = typed.replacing("=", with: " = ") + (typed.last == " " ? "''" : "")
    let script =
      switch shell {
      case .bash:
        """
        source <($reprise completion bash); COMP_WORDS=(reprise \(words)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _reprise; printf '%s\\n' "${COMPREPLY[@]}"
        """
      case .fish:
        """
        fish --no-config -c "$reprise completion fish | source; complete -C 'reprise \(typed)'" | cut -f 1
        """
      case .zsh:
        """
        $reprise completion zsh > _reprise
        timeout 120 zsh -f <<'END' | tr -s ' \\r' '\\n\\n'
        zmodload zsh/zpty
        zpty shell "TERM=dumb zsh -f -i"
        zpty -w shell "PS1='> '; fpath=($PWD \\$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; echo rea''dy"
        zpty -r shell told '*ready*2004h*'
        # A tab; then something that is echoed when all is shown.
        zpty -wn shell $'reprise \(typed)\\t'
        zpty -wn shell $'\\x15echo all sh""own\\n'
        zpty -r shell told '*shown*'
        print -r -- $told
        END
        """
      }
    let result = try RepriseProcess.shell("cd '\(scratch.directory.path)'; \(script)")
    #expect(result.status == 0 && result.errors == "", "\(result.errors)")
    return result.output.split(separator: "\n").map(String.init)
  }

  @Test(
    arguments: Shell.allCases,
    [
      ("ins", "inspect"), ("inspect --format j", "jsonl"), ("inspect uni", "unique.pcap"),
      ("inspect --keylog uni", "unique.pcap"), ("conform ex", "explain"),
      ("help conform ex", "explain"), ("conform explain MQTT-3.8.3-", "MQTT-3.8.3-1"),
      ("conform list RFC6455-5.1-", "RFC6455-5.1-1"), ("conform sdk gate", "gateway"),
      ("conform sdk answers-cr", "answers-crossing"),
      ("conform explain SDK-gateway-", "SDK-gateway-30"),
      ("conform trace --clause RFC6455-5.1-", "RFC6455-5.1-1"),
      ("conform trace --cla", "--clause"), ("conform sdk --clause SDK-link-", "SDK-link-3"),
      ("conform broker --case beyond-sh", "beyond-shared"),
      ("conform trace --spec mqtt-3.1.1,rfc", "mqtt-3.1.1,rfc6455"),
      ("conform trace --clause MQTT-3.8.3-1,RFC6455-5.1-", "MQTT-3.8.3-1,RFC6455-5.1-1"),
      ("conform trace --report jun", "junit="),
      ("help recordi", "recording"), ("help --man report mer", "merge"),
      ("conform trace --clause rfc", "rfc6455/"), ("conform sdk --clause sd", "sdk/"),
      ("conform broker --clause mqtt-5.0/U5-3.15-", "mqtt-5.0/U5-3.15-1"),
      (
        "conform trace --clause MQTT-3.8.3-1,mqtt-3.1.1/MQTT-2.2.2-",
        "MQTT-3.8.3-1,mqtt-3.1.1/MQTT-2.2.2-1"
      ),
      ("conform client --clause mqtt-5.0/MQTT-3.8.3-1,rfc", "mqtt-5.0/MQTT-3.8.3-1,rfc6455/"),
      ("conform sdk --clause sdk/SDK-link-", "sdk/SDK-link-3"),
      ("conform explain mqtt-3.1.1/MQTT-3.8.3-", "mqtt-3.1.1/MQTT-3.8.3-1"),
      ("conform list rfc6455/RFC6455-5.1-", "rfc6455/RFC6455-5.1-1"),
    ])
  func completesWhatACommandKnows(shell: Shell, line: (typed: String, word: String)) throws {
    let words = try complete(line.typed, in: shell)
    guard shell != .zsh else {
      // Behind a word may stand what moves the cursor; of a list candidates are shown without what is there already.
      let last = String(line.word.split(separator: ",").last ?? "")
      let candidates = [line.word, last, String(last.split(separator: "/").last ?? "")]
      #expect(
        words.contains { word in candidates.contains { word.hasPrefix($0) } }, "\(words)")
      return
    }
    #expect(words.contains(line.word), "\(words)")
    let start = (line.typed.split(separator: " ").last ?? "").lowercased()
    // fish takes small letters for large ones, too.
    #expect(words.allSatisfy { $0.lowercased().hasPrefix(start) })
    #expect(Set(words).count == words.count)
  }

  @Test(arguments: Shell.allCases) func completesNothingThatDoesNotFit(shell: Shell) throws {
    for typed in ["inspect --format q", "conform explain RFC6455-99", "nonsense uni"] {
      let words = try complete(typed, in: shell)
      #expect(
        words.allSatisfy { !["xml", "text", "jsonl", "unique.pcap"].contains($0) }, "\(words)")
    }
  }

  /// No file stands where a format has to, and behind a format stand files.
  @Test func completesReportsInFish() throws {
    let formats = ["text=", "json=", "junit=", "sarif=", "html=", "markdown=", "github=", "tap="]
    #expect(try complete("conform trace --report ", in: .fish).sorted() == formats.sorted())
    #expect(try complete("conform trace --report tap=uni", in: .fish) == ["tap=unique.pcap"])
  }

  /// Behind a second word none of the others can stand.
  @Test(arguments: Shell.allCases) func completesASecondWordOnce(shell: Shell) throws {
    #expect(try complete("record pro", in: shell).contains { $0.hasPrefix("proxy") })
    for typed in ["record interface ", "record interface pro"] {
      let words = try complete(typed, in: shell)
      #expect(words.allSatisfy { !$0.hasPrefix("proxy") }, "\(typed): \(words)")
    }
  }

  /// Words of help are those of the commands and topics that there are, one behind the other.
  @Test(
    arguments: Shell.allCases,
    [
      ("help record ", ["client", "proxy", "interface"]),
      ("help report ", ["merge", "compare", "badge"]),
      ("help --man replay ", ["serve", "drive", "sdk"]), ("help recording ", []),
      ("help filter ", []),
      ("help inspect ", []), ("help conform explain ", []), ("help nonsense ", []),
      ("help mer", []), ("help record merg", []),
      ("help co", ["conform", "convert", "completion"]),
      ("help simulate-", ["simulate-frames", "simulate-script"]),
    ])
  func completesWhatHelpKnows(shell: Shell, line: (typed: String, words: [String])) throws {
    let words = try complete(line.typed, in: shell)
    guard shell == .zsh else {
      // Where nothing begins so, fish looks for what has the letters somewhere.
      let start = line.typed.split(separator: " ", omittingEmptySubsequences: false).last ?? ""
      #expect(Set(words.filter { $0.hasPrefix(start) }) == Set(line.words))
      return
    }
    let shown = line.words.filter { word in words.contains { $0.hasPrefix(word) } }
    #expect(shown == line.words, "\(words)")
    let others = ["story", "redact", "trace", "merge", "client", "unique.pcap"].filter {
      !line.words.contains($0)
    }
    #expect(words.allSatisfy { word in !others.contains { word.hasPrefix($0) } }, "\(words)")
  }

  /// Behind the name of a document stand its clauses alone; both versions of MQTT have some of the same name.
  @Test(
    arguments: Shell.allCases,
    [
      ("conform trace --clause mqtt-5.0/MQTT-3.8.3-", "mqtt-5.0/", 5),
      ("conform trace --clause=mqtt-3.1.1/MQTT-3.8.3-", "mqtt-3.1.1/", 4),
      ("conform explain mqtt-5.0/MQTT-3.8.3-", "mqtt-5.0/", 5),
      ("conform list MQTT-3.8.3-", "", 5), ("conform list rfc6455/MQTT-3.8.3-", "", 0),
      ("conform explain mqtt-4/MQTT-3.8.3-", "", 0), ("conform explain /MQTT-3.8.3-", "", 0),
      ("conform sdk --clause mqtt-5.0/MQTT-3.8.3-", "", 0),
    ])
  func completesTheClausesOfADocument(
    shell: Shell, line: (typed: String, document: String, count: Int)
  ) throws {
    let words = try complete(line.typed, in: shell)
    let ids = (1...6).map { "MQTT-3.8.3-\($0)" }
    guard shell == .zsh else {
      // fish shows the name of the option, too.
      let shown = Set(words.map { $0.replacing("--clause=", with: "") })
      #expect(shown == Set(ids.prefix(line.count).map { line.document + $0 }))
      return
    }
    let shown = ids.filter { id in words.contains { $0.hasPrefix(id) } }
    #expect(shown == Array(ids.prefix(line.count)), "\(words)")
  }

  /// A document that is completed is no whole word yet, and a clause is one.
  @Test func goesOnBehindADocumentInBash() throws {
    let lines = """
      source <($reprise completion bash); compopt() { echo "compopt $*"; }
      for word in rfc6455/RFC6455-5.1-1 rfc mqtt; do
        COMP_WORDS=(reprise conform trace --clause $word); COMP_CWORD=4; _reprise
        echo "${COMPREPLY[@]}"
      done
      """
    let result = try RepriseProcess.shell(lines)
    #expect(
      result.output
        == "rfc6455/RFC6455-5.1-1\ncompopt -o nospace\nrfc6455/\nmqtt-3.1.1/ mqtt-5.0/\n")
    #expect(result.status == 0 && result.errors == "")
  }

  @Test func readsInBash() throws {
    let result = try RepriseProcess.shell("$reprise completion bash | bash -n")
    #expect(result.status == 0 && result.errors == "")
  }
}
