//! Servers, a download and the network between them, from event to event.
use super::by_hand::{ask_at, attacker, home, sent_by};
use super::network::{Destination, Network, UnderWay, Weather, client_address, server_address};
use super::shelf::{Shelf, entropy, key};
use prismux_endpoint::{Drain, Endpoint, Output, expire};
use prismux_fetch::client::{Download, DownloadConfig, DownloadError, DownloadEvent, PathSpec, Received};
use prismux_fetch::key::ServerKey;
use prismux_fetch::server::{Server, ServerConfig};
use prismux_r2cp::policy::Cost;
use prismux_rcp::ranges::Ranges;
use prismux_units::{Duration, Instant};
use prismux_wire::Ecn;
use std::collections::BTreeMap;
use std::net::SocketAddr;

pub struct World {
    /// The paths that the download began with.
    pub specs: Vec<PathSpec>,
    pub now: Instant,
    pub servers: Vec<Server<Shelf>>,
    /// Servers that are switched off.
    pub dead: Vec<bool>,
    pub network: Network,
    /// Interfaces whose source address is another than at first.
    pub moved: Vec<u16>,
    pub download: Download,
    pub received: Vec<u8>,
    pub events: Vec<DownloadEvent>,
    /// Payload bytes written by the client twice or wrongly placed would show here.
    pub stored_bytes: u64,
    /// The longest time in which no byte came whose predecessors were all here, since it was last set to zero.
    pub longest_stall: Duration,
    in_order: Ranges,
    in_order_at: Instant,
    /// Everything that the client sent, if `keep`: to which server, from which address.
    pub seen: Vec<(usize, SocketAddr, Vec<u8>)>,
    pub keep: bool,
    /// Bytes that each address sent to a server, and got from it.
    pub traffic: BTreeMap<SocketAddr, (usize, usize)>,
}

pub fn specs(keys: &[ServerKey], links: usize) -> Vec<PathSpec> {
    let pairs = (0..keys.len()).flat_map(|server| (0..links).map(move |link| (server, link)));
    pairs
        .map(|(server, link)| PathSpec {
            link,
            address: server_address(server),
            key: keys[server].public(),
            object: "object".to_string(),
            cost: Cost(0),
        })
        .collect()
}

impl World {
    pub fn new(shelves: &[Shelf], links: usize, config: DownloadConfig, weather: Weather, seed: u64) -> Self {
        let keys: Vec<ServerKey> = (0..shelves.len() as u64).map(key).collect();
        let specs = specs(&keys, links);
        Self::with(shelves, keys, specs, links, config, weather, seed)
    }

    pub fn with(
        shelves: &[Shelf],
        keys: Vec<ServerKey>,
        specs: Vec<PathSpec>,
        links: usize,
        config: DownloadConfig,
        weather: Weather,
        seed: u64,
    ) -> Self {
        let now = Instant::from_secs(1);
        let servers = keys.into_iter().zip(shelves).enumerate().map(|(index, (key, shelf))| {
            let entropy = entropy(seed, &format!("server {index}"));
            Server::new(key, ServerConfig::default(), shelf.clone(), entropy)
        });
        Self {
            now,
            servers: servers.collect(),
            dead: vec![false; shelves.len()],
            network: Network::new(links, weather, seed),
            moved: vec![0; links],
            download: Download::new(config, specs.clone(), entropy(seed, "download"), now),
            specs,
            received: vec![0; shelves[0].object.bytes.len()],
            events: Vec::new(),
            stored_bytes: 0,
            longest_stall: Duration::ZERO,
            in_order: Ranges::default(),
            in_order_at: now,
            seen: Vec::new(),
            keep: false,
            traffic: BTreeMap::new(),
        }
    }

    /// Drains the download: what leaves goes to the network, what came is kept.
    pub fn drain(&mut self) {
        let (mut drain, now, in_order) = (Drain::new(), self.now, self.in_order.next());
        while let Some(output) = drain.next(&mut self.download, now) {
            match output {
                Output::Transmit(transmit) => {
                    let server = (0..self.servers.len()).find(|&index| server_address(index) == transmit.to);
                    let (server, bytes) =
                        (server.expect("a server of ours"), self.download.datagram().to_vec());
                    if self.keep {
                        let from = client_address(transmit.link, self.moved[transmit.link]);
                        self.seen.push((server, from, bytes.clone()));
                    }
                    let destination = Destination::Server(server);
                    self.network.dispatch(now, UnderWay { destination, link: transmit.link, bytes });
                }
                Output::Event(DownloadEvent::Received { offset, part }) => {
                    let bytes = self.download.part(part);
                    let (start, end) = (offset as usize, offset as usize + bytes.len());
                    self.received[start..end].copy_from_slice(bytes);
                    self.stored_bytes += bytes.len() as u64;
                    self.in_order.insert(start as u64..end as u64);
                }
                Output::Event(event) => self.events.push(event),
            }
        }
        if self.in_order.next() > in_order {
            self.longest_stall = self.longest_stall.max(now - self.in_order_at);
            self.in_order_at = now;
        }
    }

    /// A datagram reaches a server; what it answers.
    pub fn reach_server(
        &mut self,
        index: usize,
        from: SocketAddr,
        bytes: &[u8],
    ) -> Vec<(SocketAddr, Vec<u8>)> {
        let answers = ask_at(&mut self.servers[index], self.now, from, server_address(index), bytes);
        self.traffic.entry(from).or_default().0 += bytes.len();
        for (to, bytes) in &answers {
            self.traffic.entry(*to).or_default().1 += bytes.len();
        }
        answers
    }

    /// Lets time go on to the next thing that happens; false when nothing ever will.
    pub fn step(&mut self) -> bool {
        self.drain();
        let arrival = self.network.next_arrival();
        let timers = self.servers.iter().zip(&self.dead).filter(|(_, dead)| !**dead);
        let timers = timers.filter_map(|(server, _)| server.poll_timeout());
        let download = self.download.poll_timeout().filter(|_| !self.download.is_over(self.now));
        let deadlines = timers.chain(download).map(|deadline| deadline.at);
        let Some(next) = deadlines.chain(arrival).min() else {
            return false;
        };
        self.now = self.now.max(next);
        if arrival == Some(next) {
            if let Some(under_way) = self.network.pop() {
                self.arrive(under_way);
            }
            return true;
        }
        for index in 0..self.servers.len() {
            if !self.dead[index] && expire(&mut self.servers[index], self.now) {
                self.forward(index);
            }
        }
        expire(&mut self.download, self.now);
        true
    }

    fn arrive(&mut self, UnderWay { destination, link, bytes }: UnderWay) {
        match destination {
            Destination::Server(index) if self.dead[index] => {}
            Destination::Server(index) => {
                let from = client_address(link, self.moved[link]);
                let answers = self.reach_server(index, from, &bytes);
                self.send_back(index, answers);
            }
            Destination::Client(index) => {
                let from = server_address(index);
                self.download
                    .handle_input(self.now, Received { link, from, ecn: Ecn::NotEct, bytes: &bytes });
            }
        }
    }

    /// What server `index` has to send travels to the client; how many datagrams.
    pub fn forward(&mut self, index: usize) -> usize {
        let sent = sent_by(&mut self.servers[index], self.now);
        let count = sent.len();
        self.send_back(index, sent);
        count
    }

    /// Answers of server `index` travel to the client.
    pub fn send_back(&mut self, index: usize, answers: Vec<(SocketAddr, Vec<u8>)>) {
        for (to, bytes) in answers {
            // Answers to addresses that nobody has (any more) are lost.
            let link = (0..self.moved.len()).find(|&link| client_address(link, self.moved[link]) == to);
            if let Some(link) = link {
                self.network
                    .dispatch(self.now, UnderWay { destination: Destination::Client(index), link, bytes });
            }
        }
    }

    /// Server `index` stops in order; how many datagrams say so.
    pub fn stop_server(&mut self, index: usize) -> usize {
        self.servers[index].stop(self.now);
        self.forward(index)
    }

    /// Another server with the same key takes the place of server `index`, and knows nothing of what was.
    pub fn restart_server(&mut self, index: usize, config: ServerConfig, shelf: &Shelf) {
        self.servers[index] = Server::new(key(index as u64), config, shelf.clone(), entropy(99, "restarted"));
    }

    /// Every sealed datagram that travelled reaches the first server once more, from where it came and from
    /// elsewhere. How many were seen to be old; the answers elsewhere stay within three times what came from there.
    pub fn replay_sealed(&mut self) -> u64 {
        let before = self.servers[0].counters().sessions.replayed;
        let sealed: Vec<Vec<u8>> = self.seen.iter().map(|(_, _, bytes)| bytes.clone()).collect();
        for datagram in sealed.iter().filter(|datagram| datagram[0] & 15 == 4) {
            for from in [home(), attacker()] {
                self.reach_server(0, from, datagram);
            }
        }
        let (sent, received) = self.traffic[&attacker()];
        assert!(sent > 0 && received <= 3 * sent, "{received} bytes for {sent}");
        self.servers[0].counters().sessions.replayed - before
    }

    /// Datagrams of the client are caught on their way and sent on from elsewhere: who does so gets challenges and no
    /// data.
    pub fn pass_on_from_elsewhere(&mut self, datagrams: usize) {
        let mut passed_on = 0;
        while passed_on < datagrams {
            assert!(self.step(), "nothing will happen any more: {:?}", self.events);
            while self.download.poll_transmit(self.now).is_some() {
                let caught = self.download.datagram().to_vec();
                let answers = self.reach_server(0, attacker(), &caught);
                passed_on += 1;
                self.send_back(0, answers);
            }
        }
        let (sent, received) = self.traffic[&attacker()];
        assert!(received > 0 && received <= 3 * sent, "{received} bytes for {sent}");
        let sessions = self.servers[0].counters().sessions;
        assert!(sessions.migrations == 0 && sessions.challenges > 0, "{sessions:?}");
    }

    /// Runs until the download has failed, within a minute of silence, for want of an answer.
    pub fn fail_for_silence(&mut self) {
        let since = self.now;
        self.run_until(|world| world.failure().is_some());
        assert!(self.now - since <= Duration::from_secs(61), "took {}", self.now - since);
        let why = self.failure().map(ToString::to_string).unwrap_or_default();
        assert!(why.contains("192.0.2.1:4717: does not answer") && why.contains("remedy"), "{why}");
    }

    /// The first interface gets another source address; runs until the first server has followed, and before it has
    /// it sends there no more than three times what came from there.
    pub fn move_and_be_followed(&mut self) {
        self.moved[0] = 1;
        let new_home = client_address(0, 1);
        self.run_until(|world| {
            let (sent, received) = world.traffic.get(&new_home).copied().unwrap_or_default();
            let followed = world.servers[0].counters().sessions.migrations > 0;
            assert!(
                followed || received <= 3 * sent,
                "{received} bytes went to an address not validated for {sent}"
            );
            followed
        });
    }

    /// Runs until `done`; fails after ten virtual minutes.
    pub fn run_until(&mut self, mut done: impl FnMut(&mut Self) -> bool) {
        let mut steps = 0;
        let limit = Instant::from_secs(600);
        while !done(self) {
            steps += 1;
            assert!(steps < 1_000_000, "time stands still: {:?}", self.events);
            assert!(self.now < limit, "ten minutes have passed: {:?}", self.events);
            assert!(self.step(), "nothing will happen any more: {:?}", self.events);
            self.drain();
        }
    }

    pub fn is_complete(&self) -> bool {
        self.events.contains(&DownloadEvent::Complete)
    }

    pub fn failure(&self) -> Option<&DownloadError> {
        self.events.iter().find_map(|event| match event {
            DownloadEvent::Failed(why) => Some(why),
            _ => None,
        })
    }

    /// Runs to the end and checks every byte.
    pub fn complete(&mut self, wanted: &[u8]) {
        self.run_until(|world| world.is_complete() || world.failure().is_some());
        assert_eq!(self.failure(), None);
        assert!(self.received == wanted, "bytes differ");
    }
}
