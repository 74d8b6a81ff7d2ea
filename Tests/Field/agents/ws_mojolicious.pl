#!/usr/bin/env perl
# A peer made of Mojolicious: ws_mojolicious.pl serve --port PORT, or ws_mojolicious.pl connect URL.
use Mojolicious::Lite -signatures;
use Mojo::IOLoop;
use Mojo::Server::Daemon;
use Mojo::UserAgent;
use Mojo::Util qw(decode);

# Text is decoded as the event "message" does it, which does not tell text from bytes.
sub echo ($websocket) {
  $websocket->on(text   => sub ($websocket, $bytes) { $websocket->send(decode('UTF-8', $bytes) // '') });
  $websocket->on(binary => sub ($websocket, $bytes) { $websocket->send({binary => $bytes}) });
}

websocket '/*any' => {any => ''} => sub ($c) { echo($c) };

my ($role, @words) = @ARGV;
if ($role eq 'serve') {
  app->log->level('fatal');
  Mojo::Server::Daemon->new(app => app, listen => ["http://127.0.0.1:$words[1]"], silent => 1)->run;
}
else {
  my $agent = Mojo::UserAgent->new;
  $agent->websocket($words[0] => sub ($agent, $tx) { echo($tx) if $tx->is_websocket });
  # It ends by itself when nothing is left to wait for, so that the last that was said is sent.
  Mojo::IOLoop->start;
}
