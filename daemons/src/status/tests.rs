use super::{BATCH_READERS, MAX_READERS, StatusServer, query};
use serde_json::json;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;

fn socket(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("prismux-{name}-{}", std::process::id())).join("status.sock")
}

/// Asks while the daemon's thread answers.
fn ask(server: &StatusServer, socket: &std::path::Path) -> serde_json::Value {
    std::thread::scope(|scope| {
        let asker = scope.spawn(|| query(socket));
        while !asker.is_finished() {
            server.answer(&json!({ "role": "proxy", "padding": "x".repeat(1 << 20) }));
            std::thread::yield_now();
        }
        asker.join().unwrap().unwrap()
    })
}

#[test]
fn a_question_gets_the_whole_answer_and_the_socket_goes_with_the_daemon() {
    let socket = socket("answer");
    let server = StatusServer::bind(&socket).unwrap();
    let answer = ask(&server, &socket);
    assert_eq!(
        (answer["role"].as_str(), answer["padding"].as_str().unwrap().len()),
        (Some("proxy"), 1 << 20)
    );
    drop(server);
    assert!(!socket.exists());
    assert!(query(&socket).unwrap_err().to_string().contains("Start it"));
    std::fs::remove_dir(socket.parent().unwrap()).unwrap();
}

#[test]
fn a_socket_left_behind_is_replaced_and_one_in_use_is_not() {
    let socket = socket("left-behind");
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    assert!(socket.exists(), "as after kill -9");
    let server = StatusServer::bind(&socket).unwrap();
    let error = StatusServer::bind(&socket).unwrap_err().to_string();
    assert!(error.contains("already running"), "{error}");
    assert_eq!(ask(&server, &socket)["role"], "proxy");
    drop(server);
    std::fs::remove_dir(socket.parent().unwrap()).unwrap();
}

#[test]
fn readers_that_do_not_read_take_few_threads_and_few_turns() {
    let socket = socket("flood");
    let server = StatusServer::bind(&socket).unwrap();
    let readers: Vec<_> = (0..3 * MAX_READERS).map(|_| UnixStream::connect(&socket).unwrap()).collect();
    // More than a socket takes.
    let report = json!({ "padding": "x".repeat(1 << 20) });
    let writing = || Arc::strong_count(&server.writers) - 1;
    server.answer(&report);
    assert!(writing() <= BATCH_READERS, "one turn");
    for _ in 0..readers.len() {
        server.answer(&report);
        assert!(writing() <= MAX_READERS);
    }
    assert!(server.listener.accept().is_err(), "nobody waits to be dealt with");
    drop(readers);
    drop(server);
    std::fs::remove_dir(socket.parent().unwrap()).unwrap();
}
