//! A page asked as browsers, scripts and people with bad intentions ask it.
use super::Web;
use crate::config::WebConfig;
use crate::unnamed::unnamed;
use prismux_units::Instant;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const PASSWORD: &str = "open sesame!";
/// "prismux:open sesame!".
const RIGHT: &str = "Authorization: Basic cHJpc211eDpvcGVuIHNlc2FtZSE=\r\n";

/// A daemon's loop, as far as HTTP goes, on a thread of its own until this is dropped.
struct Running {
    addresses: Vec<SocketAddr>,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn report(second: u64) -> Value {
    json!({ "role": "home", "version": "1", "uptime_s": second, "flow_count": 2,
        "links": [{ "name": "<script>", "up": true, "state": "active", "reason": "carries traffic",
            "forward_bytes": second * 1_000_000, "return_bytes": second * 1000, "loss": 0.01 }],
        "receipts": [{ "name": "<script>", "queueing_delay_s": 0.004, "rtt_s": 0.03 }],
        "events": [{ "number": 0, "time_ns": 5, "event": "member_left", "member": "<b>wan1</b>" }] })
}

impl Running {
    fn start(config: &WebConfig) -> Self {
        let mut web = Web::open(config).unwrap();
        let addresses: Vec<SocketAddr> =
            web.listeners().map(|listener| listener.local_addr().unwrap()).collect();
        let ends = Arc::new(AtomicBool::new(false));
        let count = addresses.len();
        let until = Arc::clone(&ends);
        let run = move || {
            // Seconds of the daemon pass in milliseconds.
            for second in 1.. {
                if until.load(Ordering::Relaxed) {
                    break;
                }
                let now = Instant::from_secs(second);
                web.expire(now, || report(second));
                (0..count).for_each(|address| web.answer(address, now, || report(second)));
                std::thread::sleep(Duration::from_millis(2));
            }
        };
        Self { addresses, ends, thread: Some(std::thread::spawn(run)) }
    }

    fn page() -> Self {
        Self::start(&WebConfig { page: Some(any_port()), ..WebConfig::default() })
    }

    fn guarded() -> Self {
        let file = password_file(0o600);
        Self::start(&WebConfig {
            page: Some(any_port()),
            page_password_file: Some(file),
            ..WebConfig::default()
        })
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addresses[0]).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// The whole answer to a request, written as it is.
    fn ask(&self, request: &str) -> String {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The answer to a request of a browser on this host.
    fn get(&self, path: &str) -> String {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.addresses[0]))
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(self.get(path).split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn any_port() -> SocketAddr {
    "127.0.0.1:0".parse().unwrap()
}

fn password_file(mode: u32) -> PathBuf {
    unnamed(|file| {
        std::fs::write(file, format!("{PASSWORD}\n")).unwrap();
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
    })
}

fn status_of(answer: &str) -> &str {
    answer.split("\r\n").next().unwrap_or_default().trim_start_matches("HTTP/1.1 ")
}

#[test]
fn the_page_its_parts_and_its_figures_are_served_with_a_strict_policy() {
    let running = Running::page();
    for asset in super::assets::ASSETS {
        let answer = running.get(asset.path);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && body == asset.text, "{}: {head}", asset.path);
        assert!(head.contains("Content-Security-Policy: default-src 'none'; script-src 'self'"), "{head}");
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    }
    assert_eq!(running.json("/status.json")["links"][0]["name"], "<script>");
    while running.json("/live.json")["samples"].as_array().unwrap().len() < 3 {}
    let live = running.json("/live.json");
    assert_eq!(live["names"], json!([{ "home": null, "name": "<script>" }]));
    assert_eq!(live["links"][0]["why"], "carries traffic");
    assert_eq!(live["decisions"][0]["text"], "member <b>wan1</b> leaves");
    let second = &live["samples"][1];
    assert_eq!(second[2][0][1], 8_000_000.0, "a megabyte in a second of the daemon");
    let after = second[0].as_u64().unwrap();
    let rest = running.json(&format!("/live.json?after_ms={after}&decisions_from=1"));
    assert!(rest["samples"][0][0].as_u64().unwrap() > after && rest["decisions"] == json!([]));
    assert!(running.get("/metrics").starts_with("HTTP/1.1 404"), "nobody asked for metrics here");
    assert!(running.get("/live.json?level=99999999999999999999&after_ms=-1").starts_with("HTTP/1.1 200"));
}

#[test]
fn metrics_and_the_page_may_share_an_address_or_not() {
    let listener = std::net::TcpListener::bind(any_port()).unwrap();
    let shared = listener.local_addr().unwrap();
    drop(listener);
    let both =
        Running::start(&WebConfig { page: Some(shared), metrics: Some(shared), ..WebConfig::default() });
    assert_eq!(both.addresses.len(), 1);
    let found = both.get("/metrics");
    let (head, body) = found.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("\r\nContent-Type: text/plain; version=0.0.4"), "{head}");
    assert!(body.contains("prismux_link_up{link=\"<script>\"} 1\n"), "{body}");
    assert!(both.get("/").contains("<!DOCTYPE html>"));
    let metrics = Running::start(&WebConfig { metrics: Some(any_port()), ..WebConfig::default() });
    assert!(metrics.get("/").contains("prismux_uptime_seconds"), "as before there was a page");
    for path in ["/status.json", "/live.json", "/main.js", "/etc/passwd", "/../etc/passwd"] {
        assert_eq!(status_of(&metrics.get(path)), "404 Not Found", "{path}");
    }
}

#[test]
fn without_a_password_only_requests_that_name_this_host_are_answered() {
    let running = Running::page();
    let port = running.addresses[0].port();
    let status = |host: &str| {
        let answer = running.ask(&format!("GET /status.json HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        status_of(&answer).to_owned()
    };
    for host in [format!("localhost:{port}"), format!("127.0.0.1:{port}"), "LOCALHOST".to_owned()] {
        assert_eq!(status(&host), "200 OK", "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "evil.example:127",
        "",
        "[::1]",
    ] {
        assert_eq!(status(host), "403 Forbidden", "{host}");
    }
    assert_eq!(status_of(&running.ask("GET / HTTP/1.1\r\n\r\n")), "403 Forbidden");
    for method in ["POST", "PUT", "HEAD", "OPTIONS", "get"] {
        let answer = running.ask(&format!("{method} / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        assert_eq!(status_of(&answer), "405 Method Not Allowed", "{method}");
        assert!(answer.contains("\r\nAllow: GET\r\n"));
    }
}

#[test]
fn with_a_password_nothing_is_answered_without_it() {
    let running = Running::guarded();
    for path in ["/", "/main.js", "/status.json", "/live.json", "/metrics", "/nothing"] {
        let answer = running.ask(&format!("GET {path} HTTP/1.1\r\nHost: anything\r\n\r\n"));
        assert_eq!(status_of(&answer), "401 Unauthorized", "{path}");
        assert!(answer.contains("\r\nWWW-Authenticate: Basic realm=\"prismux\""));
    }
    // A name of the operator's own, as behind a reverse proxy.
    let right = format!("GET /status.json HTTP/1.1\r\nHost: home.example\r\n{RIGHT}\r\n");
    assert_eq!(status_of(&running.ask(&right)), "200 OK");
    let wrong = "GET /status.json HTTP/1.1\r\nAuthorization: Basic cHJpc211eDpvcGVuIHNlc2FtZSEh\r\n\r\n";
    let refused = (0..30).filter(|_| status_of(&running.ask(wrong)) == "401 Unauthorized").count();
    assert_eq!(refused, 10, "then tries are not looked at any more");
    assert_eq!(status_of(&running.ask(&right)), "429 Too Many Requests");
}

#[test]
fn what_is_too_long_or_no_request_is_refused_and_said_so() {
    let running = Running::page();
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(20_000));
    assert_eq!(status_of(&running.ask(&long)), "431 Request Header Fields Too Large");
    assert_eq!(status_of(&running.ask("\x16\x03\x01\x02\r\n\r\n")), "400 Bad Request");
    assert_eq!(status_of(&running.get("/")), "200 OK");
}

#[test]
fn who_asks_slowly_holds_up_neither_packets_nor_other_readers_for_long() {
    let running = Running::page();
    // Each says a little of a request, and no more.
    let mut slow: Vec<TcpStream> = (0..super::server::MAX_READERS * 2).map(|_| running.connect()).collect();
    slow.iter_mut().for_each(|stream| drop(stream.write_all(b"GET / HTTP/1.1\r\nHost: ")));
    // One goes on with a byte now and then: the time is for the whole request.
    let mut dribble = slow.remove(0);
    let mut quarters = 0;
    while dribble.write_all(b"x").is_ok() && quarters < 240 {
        std::thread::sleep(Duration::from_millis(250));
        quarters += 1;
    }
    assert!(quarters < 240, "it was let go");
    // Places are free again once the slow ones were let go.
    while running.connect().write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").is_err() {}
    let answered = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let mut stream = running.connect();
        let asked = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let mut answer = Vec::new();
        asked.is_ok() && stream.read_to_end(&mut answer).is_ok() && answer.starts_with(b"HTTP/1.1 200")
    });
    assert!(answered);
}

#[test]
fn an_address_that_is_taken_or_a_password_that_others_read_is_told() {
    let taken = std::net::TcpListener::bind(any_port()).unwrap();
    let address = taken.local_addr().unwrap();
    let error = Web::open(&WebConfig { page: Some(address), ..WebConfig::default() }).unwrap_err();
    assert!(error.contains(&address.to_string()), "{error}");
    let file = password_file(0o644);
    let config = WebConfig { page: Some(any_port()), page_password_file: Some(file), ..WebConfig::default() };
    assert!(Web::open(&config).unwrap_err().contains("is open to others (mode 644)"));
}
