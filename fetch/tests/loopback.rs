//! Servers and downloads with real sockets on the loopback interface, real files, and a relay that mistreats datagrams.
mod common;

use common::content;
use prismux_endpoint::random::Seed;
use prismux_fetch::directory::Directory;
use prismux_fetch::fetch::{self, FetchError, FetchRequest, FetchSummary, Transport, Update};
use prismux_fetch::key::{PublicKey, ServerKey};
use prismux_fetch::os_entropy;
use prismux_fetch::partial;
use prismux_fetch::serve::{ServeConfig, Serving};
use prismux_fetch::server::{Counters, ServerConfig};
use prismux_linux::event_loop::StopHandle;
use prismux_r2cp::policy::Cost;
use prismux_units::{Duration, Rate};
use std::fs;
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

/// A folder of its own for each test, removed afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("prismux-loopback-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("writable");
        Self(path)
    }

    /// A folder below with the file `object`.
    fn served(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let folder = self.0.join(name);
        fs::create_dir_all(&folder).expect("writable");
        fs::write(folder.join("object"), bytes).expect("writable");
        folder
    }

    fn output(&self) -> PathBuf {
        self.0.join("output")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server in a thread.
struct Running {
    address: SocketAddr,
    key: PublicKey,
    stop: StopHandle,
    thread: JoinHandle<Counters>,
}

fn serve(folder: &Path, server: ServerConfig) -> Running {
    serve_at(SocketAddr::from(([127, 0, 0, 1], 0)), folder, server)
}

fn serve_at(listen: SocketAddr, folder: &Path, server: ServerConfig) -> Running {
    let (key, stop) = (ServerKey::generate(&mut os_entropy()), StopHandle::new().expect("descriptors"));
    let public = key.public();
    let config = ServeConfig { listen: vec![listen], key, server, report_every: Duration::from_secs(3600) };
    let directory = Directory::open(folder).expect("a folder");
    let (sender, receiver) = std::sync::mpsc::channel();
    let handle = stop.clone();
    let thread = thread::spawn(move || {
        let serving = Serving::bind(&config, &directory, handle, false).expect("a free port");
        sender.send(serving.addresses()[0]).expect("the test waits");
        serving.run(|_| {}).expect("sockets")
    });
    Running { address: receiver.recv().expect("bound"), key: public, stop, thread }
}

impl Running {
    fn url_at(&self, address: SocketAddr) -> String {
        format!("prismux://{}@{address}/object", self.key)
    }

    fn url(&self) -> String {
        self.url_at(self.address)
    }

    fn stop(self) -> Counters {
        self.stop.stop();
        self.thread.join().expect("it does not panic")
    }
}

fn request(urls: &[String], output: PathBuf) -> FetchRequest {
    let urls = urls.iter().map(|url| url.parse().expect("well formed")).collect();
    FetchRequest { give_up_after: Duration::from_secs(20), ..FetchRequest::new(urls, output) }
}

fn fetch(request: &FetchRequest) -> Result<FetchSummary, FetchError> {
    fetch::run(request, StopHandle::new().expect("descriptors"), false, &mut |_| {})
}

/// Runs until `received` bytes are here, then `act`s once.
fn fetch_and(
    request: &FetchRequest,
    received: u64,
    act: impl FnOnce(&StopHandle),
) -> Result<FetchSummary, FetchError> {
    let stop = StopHandle::new().expect("descriptors");
    let (handle, mut act) = (stop.clone(), Some(act));
    fetch::run(request, stop, false, &mut |update| {
        if let Update::Progress { received_bytes, .. } = update
            && received_bytes >= received
            && let Some(act) = act.take()
        {
            act(&handle);
        }
    })
}

/// Passes datagrams between one client and a server, and mistreats them.
struct Relay {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Relay {
    fn before(server: SocketAddr) -> Self {
        let (outside, inside) = (udp(), udp());
        let address = outside.local_addr().expect("bound");
        let ends = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ends);
        let thread = thread::spawn(move || {
            let (mut client, mut random) = (None, Seed(7).stream("relay"));
            let mut held: Vec<(bool, Vec<u8>)> = Vec::new();
            let mut buffer = [0; 2048];
            while !end.load(Ordering::Relaxed) {
                let mut arrived = Vec::new();
                if let Ok((length, from)) = outside.recv_from(&mut buffer) {
                    client = Some(from);
                    arrived.push((true, buffer[..length].to_vec()));
                }
                if let Ok((length, _)) = inside.recv_from(&mut buffer) {
                    arrived.push((false, buffer[..length].to_vec()));
                }
                if arrived.is_empty() {
                    thread::sleep(std::time::Duration::from_micros(50));
                }
                for (inwards, mut bytes) in arrived {
                    let fate = random.below(100);
                    if fate < 2 {
                        continue;
                    }
                    if fate < 4 {
                        let index = random.below(bytes.len() as u64) as usize;
                        bytes[index] ^= 0x40;
                    }
                    if fate < 6 {
                        held.push((inwards, bytes.clone()));
                    }
                    held.push((inwards, bytes));
                }
                // Two of any three leave in another order.
                while held.len() > 2 || (!held.is_empty() && random.below(4) == 0) {
                    let (inwards, bytes) = held.swap_remove(random.below(held.len() as u64) as usize);
                    let _ = match (inwards, client) {
                        (true, _) => inside.send_to(&bytes, server),
                        (false, Some(client)) => outside.send_to(&bytes, client),
                        (false, None) => Ok(0),
                    };
                }
            }
        });
        Self { address, ends, thread: Some(thread) }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn udp() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.set_nonblocking(true).expect("supported");
    socket
}

#[test]
fn one_file_arrives_byte_for_byte() {
    let (scratch, bytes) = (Scratch::new("one"), content(5_000_000, 1));
    let server = serve(&scratch.served("a", &bytes), ServerConfig::default());
    let summary = fetch(&request(&[server.url()], scratch.output())).expect("fetched");
    assert!(fs::read(scratch.output()).expect("there") == bytes);
    assert_eq!((summary.identity.size, summary.resumed_bytes), (5_000_000, 0));
    assert!(
        !partial::sidecar_path(&scratch.output()).exists() && !partial::data_path(&scratch.output()).exists()
    );
    let counters = server.stop();
    assert_eq!((counters.sessions.finished, counters.sessions.forged), (1, 0));
}

#[test]
fn a_server_at_a_wildcard_answers_from_the_address_that_was_asked() {
    let (scratch, bytes) = (Scratch::new("wildcard"), content(300_000, 9));
    let folder = scratch.served("served", &bytes);
    for (wildcard, needed) in [("0.0.0.0:0", "127.0.0.1:0"), ("[::]:0", "[::1]:0")] {
        if UdpSocket::bind(needed).is_err() {
            continue; // A host without IPv6.
        }
        let listen: SocketAddr = wildcard.parse().expect("an address");
        let server = serve_at(listen, &folder, ServerConfig::default());
        // What the kernel would answer from is 127.0.0.1.
        let asked = SocketAddr::from(([127, 0, 0, 9], server.address.port()));
        let request = FetchRequest { overwrite: true, ..request(&[server.url_at(asked)], scratch.output()) };
        fetch(&request).expect(wildcard);
        assert!(fs::read(scratch.output()).expect("there") == bytes);
        server.stop();
    }
}

#[test]
fn two_servers_and_two_source_addresses_share_the_work() {
    let (scratch, bytes) = (Scratch::new("two"), content(8_000_000, 2));
    let cap = ServerConfig { rate_cap: Some(Rate::from_mbps(40)), ..ServerConfig::default() };
    let servers = [serve(&scratch.served("a", &bytes), cap), serve(&scratch.served("b", &bytes), cap)];
    let urls: Vec<String> = servers.iter().map(Running::url).collect();
    let via = ["127.0.0.2", "127.0.0.3"].map(|via| via.parse().expect("an address")).to_vec();
    let summary = fetch(&FetchRequest { via, ..request(&urls, scratch.output()) }).expect("fetched");
    assert!(fs::read(scratch.output()).expect("there") == bytes);
    assert_eq!(summary.paths.len(), 4);
    for path in &summary.paths {
        assert!(path.report.received_bytes > 400_000, "{:?}", summary.paths);
    }
    for server in servers {
        server.stop();
    }
}

#[test]
fn orders_bring_a_server_in_and_close_another() {
    let scratch = Scratch::new("orders");
    let bytes = content(300_000, 8);
    let folder = scratch.served("served", &bytes);
    let servers = [0, 1].map(|_| serve(&folder, ServerConfig::default()));
    let orders = scratch.0.join("orders");
    let close = format!("close {}", servers[0].address);
    fs::write(&orders, format!("use {}#cost=high\n\nnonsense\n{close}\n", servers[1].url()))
        .expect("writable");
    let mut notes = Vec::new();
    let request = FetchRequest {
        orders: Some(orders),
        sample_every: Some(Duration::from_millis(1)),
        // Slow enough for the orders to come first.
        rate: Some(Rate::from_mbps(2)),
        ..request(&[servers[0].url()], scratch.output())
    };
    let mut samples = 0;
    let stop = StopHandle::new().expect("descriptors");
    let summary = fetch::run(&request, stop, false, &mut |update| match update {
        Update::Note(text) => notes.push(text),
        Update::Sample(sample) => {
            assert!(sample.delivery.in_order_bytes <= sample.received_bytes);
            samples += 1;
        }
        _ => {}
    });
    let summary = summary.expect("complete");
    assert_eq!(fs::read(scratch.output()).expect("there"), bytes);
    assert_eq!(summary.paths[0].report.state, "closed");
    assert!(summary.paths[1].report.received_bytes > 200_000, "{:?}", summary.paths);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].contains("nonsense") && notes[0].contains("use URL"), "{notes:?}");
    assert!(samples > 10, "{samples}");
    assert_eq!(summary.delivery.in_order_bytes, 300_000);
    for server in servers {
        server.stop();
    }
}

#[test]
fn a_relay_that_loses_reorders_duplicates_and_corrupts_changes_no_byte() {
    let (scratch, bytes) = (Scratch::new("relay"), content(1_000_000, 3));
    let server = serve(&scratch.served("a", &bytes), ServerConfig::default());
    let relay = Relay::before(server.address);
    let summary = fetch(&request(&[server.url_at(relay.address)], scratch.output())).expect("fetched");
    assert!(fs::read(scratch.output()).expect("there") == bytes);
    let (client, counters) = (summary.counters, server.stop());
    let forged = client.forged + client.unmatched + client.malformed + counters.sessions.forged;
    assert!(forged > 0 && client.replayed + counters.sessions.replayed > 0, "{client:?} {counters:?}");
}

#[test]
fn a_server_that_stops_midway_is_replaced_by_the_other() {
    let (scratch, bytes) = (Scratch::new("stops"), content(6_000_000, 4));
    let cap = ServerConfig { rate_cap: Some(Rate::from_mbps(20)), ..ServerConfig::default() };
    let (first, second) =
        (serve(&scratch.served("a", &bytes), cap), serve(&scratch.served("b", &bytes), cap));
    let urls = [first.url(), second.url()];
    let mut first = Some(first);
    let summary = fetch_and(&request(&urls, scratch.output()), 1_000_000, |_| {
        first.take().map(Running::stop);
    });
    assert!(first.is_none(), "it was stopped midway");
    assert!(fs::read(scratch.output()).expect("there") == bytes, "{summary:?}");
    second.stop();
}

fn by_ptcp(urls: &[String], output: PathBuf) -> FetchRequest {
    FetchRequest { transport: Transport::Ptcp, ..request(urls, output) }
}

#[test]
fn by_ptcp_two_source_addresses_are_two_pipes() {
    let (scratch, bytes) = (Scratch::new("pipes"), content(8_000_000, 12));
    let server = serve(&scratch.served("a", &bytes), ServerConfig::default());
    let via = ["127.0.0.2", "127.0.0.3"].map(|via| via.parse().expect("an address")).to_vec();
    let summary =
        fetch(&FetchRequest { via, ..by_ptcp(&[server.url()], scratch.output()) }).expect("fetched");
    assert!(fs::read(scratch.output()).expect("there") == bytes);
    let sum: u64 = summary.paths.iter().map(|path| path.report.received_bytes).sum();
    assert_eq!((summary.paths.len(), sum), (2, 8_000_000));
    let sessions = server.stop().sessions;
    assert_eq!((sessions.connections, sessions.pipes, sessions.forged, sessions.requests), (1, 2, 0, 0));
}

#[test]
fn by_ptcp_a_relay_that_loses_reorders_duplicates_and_corrupts_changes_no_byte() {
    let (scratch, bytes) = (Scratch::new("ptcp-relay"), content(1_000_000, 13));
    let server = serve(&scratch.served("a", &bytes), ServerConfig::default());
    let relay = Relay::before(server.address);
    let summary = fetch(&by_ptcp(&[server.url_at(relay.address)], scratch.output())).expect("fetched");
    assert!(fs::read(scratch.output()).expect("there") == bytes);
    let (client, counters) = (summary.counters, server.stop());
    let forged = client.forged + client.unmatched + client.malformed + counters.sessions.forged;
    assert!(forged > 0 && client.replayed + counters.sessions.replayed > 0, "{client:?} {counters:?}");
}

#[test]
fn by_ptcp_an_interrupted_fetch_goes_on_where_it_stopped() {
    let (scratch, bytes) = (Scratch::new("ptcp-resume"), content(4_000_000, 14));
    let cap = ServerConfig { rate_cap: Some(Rate::from_mbps(20)), ..ServerConfig::default() };
    let server = serve(&scratch.served("a", &bytes), cap);
    let request = by_ptcp(&[server.url()], scratch.output());
    let interrupted = fetch_and(&request, 1_000_000, StopHandle::stop);
    let Err(FetchError::Interrupted { received_bytes, .. }) = interrupted else { panic!("{interrupted:?}") };
    let summary = fetch(&request).expect("fetched");
    assert!(summary.resumed_bytes > 0 && summary.resumed_bytes <= received_bytes);
    assert!(fs::read(scratch.output()).expect("there") == bytes);
    // What one transport began the other goes on with.
    fs::remove_file(scratch.output()).expect("there");
    assert!(fetch_and(&request, 1_000_000, StopHandle::stop).is_err());
    let summary = fetch(&FetchRequest { transport: Transport::R2cp, ..request }).expect("fetched");
    assert!(summary.resumed_bytes > 0 && fs::read(scratch.output()).expect("there") == bytes);
    server.stop();
}

#[test]
fn what_ptcp_cannot_do_is_refused_with_the_transport_that_does() {
    let scratch = Scratch::new("ptcp-refused");
    let urls = ["a", "b"]
        .map(|host| format!("prismux://{}@{host}/object", ServerKey::generate(&mut os_entropy()).public()));
    let one = by_ptcp(&urls[..1], scratch.output());
    let via = |name: &str| name.parse().expect("an interface");
    let refused = [
        by_ptcp(&urls, scratch.output()),
        FetchRequest { rate: Some(Rate::from_mbps(1)), ..one.clone() },
        FetchRequest { via: vec![via("a")], costs: vec![(via("a"), Cost(1))], ..one.clone() },
        FetchRequest { via: (0..9).map(|index| via(&format!("a{index}"))).collect(), ..one },
    ];
    for request in refused {
        let error = fetch(&request).expect_err("refused");
        assert!(error.is_usage() && error.to_string().contains("--transport r2cp"), "{error}");
    }
}

#[test]
fn an_interrupted_fetch_goes_on_where_it_stopped() {
    let (scratch, bytes) = (Scratch::new("resume"), content(4_000_000, 5));
    let cap = ServerConfig { rate_cap: Some(Rate::from_mbps(20)), ..ServerConfig::default() };
    let server = serve(&scratch.served("a", &bytes), cap);
    let request = request(&[server.url()], scratch.output());
    let interrupted = fetch_and(&request, 1_000_000, StopHandle::stop);
    let Err(FetchError::Interrupted { received_bytes, size }) = interrupted else {
        panic!("{interrupted:?}")
    };
    assert!(received_bytes >= 1_000_000 && size == Some(4_000_000));
    assert!(!scratch.output().exists(), "it has its name only when it is complete");
    let summary = fetch(&request).expect("fetched");
    assert_eq!(summary.resumed_bytes, received_bytes);
    assert!(fs::read(scratch.output()).expect("there") == bytes);
    let data_bytes = server.stop().sessions.data_bytes;
    assert!(data_bytes < 4_400_000, "{data_bytes} bytes travelled");
}

#[test]
fn a_partial_file_of_another_object_is_not_gone_on_with() {
    let (scratch, bytes) = (Scratch::new("changed"), content(4_000_000, 6));
    let cap = ServerConfig { rate_cap: Some(Rate::from_mbps(20)), ..ServerConfig::default() };
    let folder = scratch.served("a", &bytes);
    let server = serve(&folder, cap);
    let request = request(&[server.url()], scratch.output());
    assert!(fetch_and(&request, 500_000, StopHandle::stop).is_err());
    let other = content(4_000_000, 7);
    fs::write(folder.join("object"), &other).expect("writable");
    let error = fetch(&request).expect_err("changed").to_string();
    assert!(error.contains("--restart"), "{error}");
    fetch(&FetchRequest { restart: true, ..request }).expect("fetched");
    assert!(fs::read(scratch.output()).expect("there") == other);
    server.stop();
}

#[test]
fn a_server_that_disagrees_is_not_used() {
    let (scratch, bytes) = (Scratch::new("disagree"), content(1_000_000, 8));
    let right = serve(&scratch.served("a", &bytes), ServerConfig::default());
    let wrong = serve(&scratch.served("b", &content(1_000_000, 9)), ServerConfig::default());
    let mut request = request(&[wrong.url(), right.url()], scratch.output());
    request.digest = Some(common::identity(&bytes).digest);
    let mut notes = Vec::new();
    let stop = StopHandle::new().expect("descriptors");
    let summary = fetch::run(&request, stop, false, &mut |update| {
        if let Update::Note(text) = update {
            notes.push(text);
        }
    });
    assert!(fs::read(scratch.output()).expect("there") == bytes, "{summary:?}");
    assert!(notes.iter().any(|note| note.contains("is not used: its object has")), "{notes:?}");
    assert_eq!(wrong.stop().sessions.data_bytes, 0, "no byte of it was asked for");
    right.stop();
}

#[test]
fn a_wrong_key_a_path_outside_and_an_existing_output_are_clear_errors() {
    let (scratch, bytes) = (Scratch::new("errors"), content(1000, 10));
    let server = serve(&scratch.served("a", &bytes), ServerConfig::default());
    fs::write(scratch.0.join("secret"), "secret").expect("writable");
    let other = ServerKey::generate(&mut os_entropy()).public();
    let stranger = server.url().replace(&server.key.to_string(), &other.to_string());
    let mut wrong_key = request(&[stranger], scratch.output());
    wrong_key.give_up_after = Duration::from_secs(2);
    let error = fetch(&wrong_key).expect_err("not that server").to_string();
    assert!(error.contains("does not answer"), "{error}");
    let outside = server.url().replace("/object", "/../secret");
    let error = fetch(&request(&[outside], scratch.output())).expect_err("outside").to_string();
    assert!(error.contains("no such object"), "{error}");
    fs::write(scratch.output(), "precious").expect("writable");
    let error = fetch(&request(&[server.url()], scratch.output())).expect_err("there").to_string();
    assert!(error.contains("--overwrite"), "{error}");
    assert_eq!(fs::read(scratch.output()).expect("there"), b"precious");
    let counters = server.stop();
    assert_eq!((counters.refused, counters.opened), (1, 0));
    assert!(counters.forged_hellos > 0);
}

#[test]
fn replayed_and_forged_datagrams_are_counted_and_answered_with_less_than_they_have() {
    let (scratch, bytes) = (Scratch::new("hostile"), content(1000, 11));
    let server = serve(&scratch.served("a", &bytes), ServerConfig::default());
    let attacker = udp();
    let (mut sent, mut received, mut buffer) = (0, 0, [0; 2048]);
    let mut random = Seed(3).stream("hostile");
    for round in 0..3000 {
        let length = 12 + random.below(120) as usize;
        let mut datagram: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        datagram[..4].copy_from_slice(&[0x10 + (round % 7) as u8, 0, 0, 0]);
        sent += attacker.send_to(&datagram, server.address).expect("sent");
        while let Ok(length) = attacker.recv(&mut buffer) {
            received += length;
        }
    }
    let counters = server.stop();
    while let Ok(length) = attacker.recv(&mut buffer) {
        received += length;
    }
    assert!(received > 0 && received <= 3 * sent, "{received} bytes for {sent}");
    assert!(
        counters.malformed > 0 && counters.forged_hellos > 0 && counters.unknown_connections > 0,
        "{counters:?}"
    );
    assert_eq!((counters.opened, counters.sessions.data_bytes), (0, 0));
}
