//! A client of RCP made by hand.
use super::by_hand::{ask, home, open_channel, sealed};
use super::shelf::Shelf;
use prismux_fetch::channel::{Channel, Message};
use prismux_fetch::key::ServerKey;
use prismux_fetch::server::Server;
use prismux_fetch::wire::Datagram;
use prismux_rcp::{Ask, PacketIn, PacketOut, Pipe, PipeState, RcpConfig, RcpHeader};
use prismux_units::Instant;
use prismux_wire::{Ecn, SeqNumber};
use std::net::SocketAddr;

/// A client made by hand, which may say what it likes.
pub struct RcpClient {
    pub channel: Channel,
    pub pipe: Pipe,
    pub now: Instant,
}

impl RcpClient {
    pub fn connect(server: &mut Server<Shelf>, key: &ServerKey, now: Instant) -> Self {
        Self::with(RcpConfig::modern(), server, key, now)
    }

    pub fn with(config: RcpConfig, server: &mut Server<Shelf>, key: &ServerKey, now: Instant) -> Self {
        let channel = open_channel(server, key, now, home(), "object");
        let pipe = Pipe::connect(config, SeqNumber(9), now);
        let mut client = Self { channel, pipe, now };
        let syn = client.pipe.poll_control(now).expect("it opens");
        client.say(server, &syn.header);
        assert_eq!(client.pipe.state(), PipeState::Established);
        client
    }

    /// Seals `message`, and hands it over as if from `from`.
    pub fn send(
        &mut self,
        server: &mut Server<Shelf>,
        from: SocketAddr,
        message: &Message<'_>,
    ) -> Vec<(SocketAddr, Vec<u8>)> {
        ask(server, self.now, from, &sealed(&mut self.channel, message))
    }

    /// Sends an RCP packet; returns the headers and payload lengths of what comes back.
    pub fn say(&mut self, server: &mut Server<Shelf>, header: &RcpHeader) -> Vec<(RcpHeader, usize)> {
        let mut packet = [0; 64];
        let length = header.emit(&mut packet).expect("fits");
        let answers = self.send(server, home(), &Message::Rcp(&packet[..length]));
        answers.iter().map(|(_, bytes)| self.open(bytes)).collect()
    }

    pub fn open(&mut self, datagram: &[u8]) -> (RcpHeader, usize) {
        let Ok(Datagram::Sealed { nonce, noise, .. }) = Datagram::parse(datagram) else { panic!("sealed") };
        let mut opened = Vec::new();
        self.channel.open(nonce, noise, &mut opened).expect("sealed for us");
        let Some(Message::Rcp(packet)) = Message::parse(&opened) else { panic!("an RCP packet") };
        let (header, length) = RcpHeader::parse(packet).expect("well formed");
        let payload_bytes = packet.len() - length;
        self.pipe
            .receive(self.now, &PacketIn { header, payload_bytes: payload_bytes as u32, ecn: Ecn::NotEct });
        (header, payload_bytes)
    }

    pub fn pull(&mut self, start: u64) -> PacketOut {
        self.request(&Ask::Pull(start..start + 1000))
    }

    pub fn request(&mut self, ask: &Ask) -> PacketOut {
        self.pipe.request(self.now, ask, 0)
    }
}
