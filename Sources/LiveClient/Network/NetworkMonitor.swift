public import RepriseCore

/// Watches whether this machine has a network, for the `setReachable` of what connects.
///
/// ```swift
/// try await withChannel(on: client, configuration: configuration) { channel in
///   async let _: Void = channel.follow(try NetworkMonitor().changes)
///   try await live(channel)
/// }
/// ```
///
/// There is a network as long as an interface that is up and can carry something, and leads to more than this machine,
/// has an address that is valid beyond its link. That a server can be reached is not said by that: a network that ends
/// at its router counts, and so does one of virtual machines. A server on this machine itself is there without any
/// network, and so its clients need no monitor.
///
/// It listens on a socket and takes a thread of its own, until ``stop()`` or until nobody holds it or its
/// ``changes`` any more.
public final class NetworkMonitor: Sendable {
  let watch: NetworkWatch
  private let thread: WorkerThread

  /// Starts to watch.
  /// - Throws: `DataClientError` when the system tells nothing of its interfaces, or is out of threads or files.
  public init() throws(DataClientError) {
    let socket = try RouteSocket()
    // The socket came first: what changes meanwhile is heard.
    let watch = try NetworkWatch(try [InterfaceAddress].ofThisMachine().haveNetwork)
    thread = try WorkerThread { watch.run(socket) }
    self.watch = watch
  }

  deinit {
    watch.stop()
    thread.join()
  }

  /// Whether there is a network now.
  public var isReachable: Bool { watch.isReachable }

  /// Whether there is a network: first whether there is now, then each change, once.
  ///
  /// Each loop over it, of which there may be many at once, begins with the present. Of what a slow loop has
  /// not read yet only that something changed, and to what, is kept. It ends with ``stop()``, and with the task.
  public var changes: NetworkChanges { NetworkChanges(monitor: self) }

  /// Stops to watch, and ends all loops over ``changes``; later ones have the last that was known.
  public func stop() { watch.stop() }
}

/// What became of the network, as ``NetworkMonitor/changes`` tells it.
public struct NetworkChanges: AsyncSequence, Sendable {
  let monitor: NetworkMonitor

  /// Returns what reads the changes, from the present on.
  public func makeAsyncIterator() -> Iterator {
    Iterator(reading: NetworkReading(monitor))
  }

  /// Reads the changes.
  public struct Iterator: AsyncIteratorProtocol {
    let reading: NetworkReading

    /// Returns whether there is a network, as soon as that is another than what was returned before; nil when the
    /// monitor has stopped or the task is cancelled.
    public mutating func next() async -> Bool? { await reading.next() }
  }
}

/// One loop over the changes of a monitor, which it keeps alive.
final class NetworkReading {
  private let monitor: NetworkMonitor
  private let id: UInt64
  private var news: AsyncStream<Void>.Iterator

  init(_ monitor: NetworkMonitor) {
    self.monitor = monitor
    let (news, teller) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    id = monitor.watch.addReader(teller)
    self.news = news.makeAsyncIterator()
  }

  deinit { monitor.watch.removeReader(id) }

  func next() async -> Bool? {
    while !Task.isCancelled {
      if let isReachable = monitor.watch.takeChange(of: id) { return isReachable }
      if await news.next(isolation: #isolation) == nil { break }
    }
    return Task.isCancelled ? nil : monitor.watch.takeChange(of: id)
  }
}
