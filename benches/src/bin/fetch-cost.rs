//! What a server of files costs: processor time for each gigabyte, and memory for each client.
use clap::Parser;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use prismux_benches::cpu::process_seconds;
use prismux_fetch::directory::Directory;
use prismux_fetch::fetch::{self, FetchRequest, Transport};
use prismux_fetch::key::ServerKey;
use prismux_fetch::serve::{ServeConfig, Serving};
use prismux_fetch::server::{Counters, ServerConfig};
use prismux_fetch::url::Url;
use prismux_linux::event_loop::StopHandle;
use prismux_study::text_table::Table;
use prismux_units::{ByteCount, Duration};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Barrier;
use std::time::Instant;
use std::{env, fs, process, thread};

/// One server process, many clients in another, each with sockets and a file of its own, all at the same time over
/// the loopback interface. Each client checks the digest of what it has fetched. Prints the server's CPU seconds per
/// GB (its system calls included, and with them the kernel's way to the clients' sockets) and its resident memory per
/// client.
#[derive(Debug, Parser)]
#[command(name = "fetch-cost", after_help = "Example: fetch-cost --clients 1000 --size 1MB --transport ptcp")]
struct Arguments {
    /// Clients at the same time.
    #[arg(long, default_value_t = 1000)]
    clients: usize,
    /// Size of the file that each of them fetches.
    #[arg(long, default_value = "1MB")]
    size: ByteCount,
    /// What carries it: r2cp or ptcp.
    #[arg(long, default_value_t)]
    transport: Transport,
    /// Prints JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Be the server for this folder.
    #[arg(long, hide = true)]
    serve: Option<PathBuf>,
}

type Failed = Box<dyn Error + Send + Sync>;

/// What the server process says of itself, one object on a line.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Report {
    clients: u64,
    data_bytes: u64,
    bytes_sent: u64,
    unsent: u64,
    vanished: u64,
    cpu_s: f64,
    resident_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Results {
    version: &'static str,
    transport: &'static str,
    clients: usize,
    /// Fetched with the right digest.
    complete: usize,
    gigabytes: f64,
    elapsed_s: f64,
    goodput_bps: f64,
    server_cpu_s_per_gb: f64,
    clients_cpu_s_per_gb: f64,
    /// Most sessions that the server had at one time.
    most_sessions: u64,
    server_bytes_per_client: f64,
    /// Payload that travelled more than once, as a share.
    repeated: f64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match &arguments.serve {
        Some(folder) => serve(folder),
        None => measure(&arguments).and_then(|results| print(&arguments, &results)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("fetch-cost: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// The server process: prints its URL, then reports; ends when its input does.
fn serve(folder: &Path) -> Result<(), Failed> {
    let (key, stop) = (ServerKey::generate(&mut prismux_fetch::os_entropy()), StopHandle::new()?);
    let public = key.public();
    let config = ServeConfig {
        listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))],
        key,
        server: ServerConfig::default(),
        report_every: Duration::from_millis(200),
    };
    let serving = Serving::bind(&config, &Directory::open(folder)?, stop.clone(), false)?;
    println!("prismux://{public}@{}/object", serving.addresses()[0]);
    thread::spawn(move || {
        // Ends with the parent, whatever becomes of it.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        stop.stop();
    });
    let counters = serving.run(|counters| say(&report(counters)))?;
    say(&report(&counters));
    Ok(())
}

fn say(report: &Report) {
    // Numbers always serialise; a parent that is gone is noticed elsewhere.
    let line = serde_json::to_string(report).unwrap_or_default();
    let _ = writeln!(io::stdout(), "{line}");
}

fn report(counters: &Counters) -> Report {
    Report {
        clients: counters.clients,
        data_bytes: counters.sessions.data_bytes,
        bytes_sent: counters.bytes_sent,
        unsent: counters.unsent,
        vanished: counters.sessions.vanished,
        cpu_s: process_seconds().unwrap_or(f64::NAN),
        resident_bytes: resident_bytes().unwrap_or(0),
    }
}

/// Memory of this process that is in use.
fn resident_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// A folder that goes when it is done with.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn measure(arguments: &Arguments) -> Result<Results, Failed> {
    allow_descriptors(arguments.clients as u64 * 8 + 100)?;
    let scratch = Scratch(env::temp_dir().join(format!("prismux-fetch-cost-{}", process::id())));
    let folder = scratch.0.join("served");
    fs::create_dir_all(&folder)?;
    let size = arguments.size.as_u64();
    let bytes: Vec<u8> = (0..size).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(folder.join("object"), bytes)?;
    let mut server = start_server(&folder)?;
    let mut lines = BufReader::new(server.stdout.take().ok_or("the server has no output")?).lines();
    let url: Url = lines.next().ok_or("the server says nothing")??.parse()?;
    let reader = thread::spawn(move || {
        let reports = lines.map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok());
        reports.collect::<Vec<Report>>()
    });
    // The first fetch has the digest computed, and warms what can be warm.
    fetch_one(&url, arguments.transport, &scratch.0, 0)?;
    thread::sleep(std::time::Duration::from_millis(600));
    let cpu_before = process_seconds().unwrap_or(f64::NAN);
    let begun = Instant::now();
    let complete = fetch_all(&url, arguments.transport, &scratch.0, arguments.clients);
    let elapsed_s = begun.elapsed().as_secs_f64();
    let clients_cpu_s = process_seconds().unwrap_or(f64::NAN) - cpu_before;
    drop(server.stdin.take());
    server.wait()?;
    let reports = reader.join().map_err(|_| "the reader of reports failed")?;
    Ok(results(arguments, &reports, complete, elapsed_s, clients_cpu_s))
}

fn results(
    arguments: &Arguments,
    reports: &[Report],
    complete: usize,
    elapsed_s: f64,
    clients_cpu_s: f64,
) -> Results {
    // Before the crowd came: the last report with nobody but the first client.
    let quiet = reports.iter().take_while(|report| report.clients <= 1).last().copied().unwrap_or_default();
    let busiest = reports.iter().max_by_key(|report| report.clients).copied().unwrap_or_default();
    let last = reports.last().copied().unwrap_or_default();
    let wanted = (complete as u64 * arguments.size.as_u64()) as f64;
    let gigabytes = wanted / 1e9;
    let grown = reports.iter().map(|report| report.resident_bytes).max().unwrap_or(0) - quiet.resident_bytes;
    Results {
        version: env!("CARGO_PKG_VERSION"),
        transport: arguments.transport.name(),
        clients: arguments.clients,
        complete,
        gigabytes,
        elapsed_s,
        goodput_bps: wanted * 8.0 / elapsed_s,
        server_cpu_s_per_gb: (last.cpu_s - quiet.cpu_s) / gigabytes,
        clients_cpu_s_per_gb: clients_cpu_s / gigabytes,
        most_sessions: busiest.clients,
        server_bytes_per_client: grown as f64 / busiest.clients.max(1) as f64,
        repeated: (last.data_bytes - quiet.data_bytes) as f64 / wanted - 1.0,
    }
}

fn start_server(folder: &Path) -> io::Result<Child> {
    let mut command = Command::new(env::current_exe()?);
    command.arg("--serve").arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    command.spawn()
}

/// Each client needs a few descriptors.
fn allow_descriptors(wanted: u64) -> Result<(), Failed> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if soft >= wanted {
        return Ok(());
    }
    setrlimit(Resource::RLIMIT_NOFILE, wanted.min(hard), hard)?;
    match hard >= wanted {
        true => Ok(()),
        false => Err(format!("{wanted} open files are needed, {hard} allowed; see ulimit -n").into()),
    }
}

/// All at once; returns how many have the right bytes.
fn fetch_all(url: &Url, transport: Transport, folder: &Path, clients: usize) -> usize {
    let ready = Barrier::new(clients);
    thread::scope(|scope| {
        let fetches: Vec<_> = (1..=clients)
            .map(|number| {
                let ready = &ready;
                let fetch = move || {
                    ready.wait();
                    fetch_one(url, transport, folder, number)
                        .inspect_err(|error| eprintln!("client {number}: {error}"))
                };
                // A client's stack is shallow, and there are many.
                thread::Builder::new().stack_size(512 << 10).spawn_scoped(scope, fetch)
            })
            .collect();
        let done = fetches.into_iter().flatten().map(|fetch| matches!(fetch.join(), Ok(Ok(()))));
        done.filter(|&complete| complete).count()
    })
}

fn fetch_one(url: &Url, transport: Transport, folder: &Path, number: usize) -> Result<(), Failed> {
    let output = folder.join(number.to_string());
    let request = FetchRequest {
        transport,
        give_up_after: Duration::from_secs(120),
        ..FetchRequest::new(vec![url.clone()], output.clone())
    };
    fetch::run(&request, StopHandle::new()?, false, &mut |_| {})?;
    Ok(fs::remove_file(output)?)
}

fn print(arguments: &Arguments, results: &Results) -> Result<(), Failed> {
    if arguments.json {
        println!("{}", serde_json::to_string(results)?);
    } else {
        let mut table = Table::new(&[
            "transport",
            "clients",
            "complete",
            "GB",
            "s",
            "Gbit/s",
            "server CPU s/GB",
            "clients CPU s/GB",
            "most sessions",
            "server KB/client",
            "repeated",
        ]);
        table.row([
            results.transport.to_string(),
            results.clients.to_string(),
            results.complete.to_string(),
            format!("{:.2}", results.gigabytes),
            format!("{:.1}", results.elapsed_s),
            format!("{:.2}", results.goodput_bps / 1e9),
            format!("{:.1}", results.server_cpu_s_per_gb),
            format!("{:.1}", results.clients_cpu_s_per_gb),
            results.most_sessions.to_string(),
            format!("{:.1}", results.server_bytes_per_client / 1e3),
            format!("{:.1} %", results.repeated * 100.0),
        ]);
        println!("{table}");
    }
    match results.complete == results.clients {
        true => Ok(()),
        false => Err(format!("{} clients did not get the file", results.clients - results.complete).into()),
    }
}
