// Another module can only call a loop that is generic over the machine, which takes three times as long for each event.

extension Driver where Machine == ChannelStateMachine {
  /// Takes events until the world or the scope ends, and stops the channel.
  /// - Throws: What broke the client's world, and `CancellationError`.
  package func loop() async throws { try await loop(.stop) }
}

extension Driver where Machine == MessageLinkMachine {
  /// Takes events until the world or the scope ends, and logs out.
  /// - Throws: What broke the client's world, and `CancellationError`.
  package func loop() async throws { try await loop(.logout) }
}

extension Driver where Machine == StreamLinkMachine {
  /// Takes events until the world or the scope ends, and leaves the channel.
  /// - Throws: What broke the client's world, and `CancellationError`.
  package func loop() async throws { try await loop(.leave) }
}

extension Driver where Machine == GatewayStateMachine {
  /// Takes events until the world or the scope ends, and stops the gateway.
  /// - Throws: What broke the client's world, and `CancellationError`.
  package func loop() async throws { try await loop(.stop) }
}

extension Driver where Machine == RequestStateMachine {
  /// Takes events until the world or the scope ends, and closes the connection.
  /// - Throws: What broke the client's world, and `CancellationError`.
  package func loop() async throws { try await loop(.close) }
}
