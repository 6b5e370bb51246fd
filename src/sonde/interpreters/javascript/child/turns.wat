;; The loop between Python and QuickJS, beside QuickJS: entering WebAssembly from Python costs more than a whole turn of it.
;;
;; A turn hands over answers, then lets the code run until it can do nothing more, and returns what it has to say: a text,
;; as its address and its length in one number, or -1 if QuickJS has failed.
(module
  (import "js" "memory" (memory 1))
  (import "js" "new_string" (func $new_string (param i32 i32) (result i32)))
  (import "js" "free_value" (func $free (param i32)))
  (import "js" "call_function" (func $call_function (param i32 i32 i32 i32 i32) (result i32)))
  (import "js" "execute_pending_jobs" (func $run_jobs (result i32)))
  (import "js" "eval_async" (func $eval (param i32 i32 i32) (result i32)))
  (import "js" "last_exception" (func $last_exception (param i32) (result i32)))
  (import "js" "get_bool" (func $get_bool (param i32 i32) (result i32)))
  (import "js" "get_string" (func $get_string (param i32) (result i32)))
  (import "js" "qjs_last_ptr" (func $text_at (result i32)))
  (import "js" "qjs_last_len" (func $text_size (result i32)))

  (global $slots (mut i32) (i32.const 0)) ;; three words: an argument, a result, a flag
  (global $undefined (mut i32) (i32.const 0))
  (global $take (mut i32) (i32.const 0))
  (global $next (mut i32) (i32.const 0))
  (global $report (mut i32) (i32.const 0))
  (global $watch (mut i32) (i32.const 0))
  (global $fail (mut i32) (i32.const 0))

  (func (export "prepare") (param $slots i32) (param $undefined i32)
    (param $take i32) (param $next i32) (param $report i32) (param $watch i32) (param $fail i32)
    (global.set $slots (local.get $slots))
    (global.set $undefined (local.get $undefined))
    (global.set $take (local.get $take))
    (global.set $next (local.get $next))
    (global.set $report (local.get $report))
    (global.set $watch (local.get $watch))
    (global.set $fail (local.get $fail)))

  ;; Call with one argument, which is freed. Returns the result, or 0 if it failed.
  (func $call (param $function i32) (param $argument i32) (result i32)
    (local $status i32)
    (i32.store (global.get $slots) (local.get $argument))
    (local.set $status
      (call $call_function (local.get $function) (global.get $undefined) (global.get $slots) (i32.const 1)
        (i32.add (global.get $slots) (i32.const 4))))
    (if (i32.ne (local.get $argument) (global.get $undefined)) (then (call $free (local.get $argument))))
    (if (result i32) (local.get $status)
      (then (i32.const 0))
      (else (i32.load offset=4 (global.get $slots)))))

  ;; The text of a value as one number; the value is freed.
  (func $told (param $value i32) (result i64)
    (local $status i32)
    (if (i32.eqz (local.get $value)) (then (return (i64.const -1))))
    (local.set $status (call $get_string (local.get $value)))
    (call $free (local.get $value))
    (if (local.get $status) (then (return (i64.const -1))))
    (i64.or
      (i64.shl (i64.extend_i32_u (call $text_at)) (i64.const 32))
      (i64.extend_i32_u (call $text_size))))

  ;; Let the code run, and answer it one by one, until it can do nothing more.
  (func $run (export "run") (result i64)
    (local $result i32)
    (loop $again
      (loop $jobs (br_if $jobs (i32.gt_s (call $run_jobs) (i32.const 0)))) ;; it stops at a hundred thousand
      (local.set $result (call $call (global.get $next) (global.get $undefined)))
      (if (i32.eqz (local.get $result)) (then (return (i64.const -1))))
      (drop (call $get_bool (local.get $result) (i32.add (global.get $slots) (i32.const 8))))
      (call $free (local.get $result))
      (br_if $again (i32.load offset=8 (global.get $slots))))
    (call $told (call $call (global.get $report) (global.get $undefined))))

  ;; Begin to run the code at an address.
  (func (export "begin") (param $at i32) (param $size i32) (result i64)
    (local $failed i32)
    (local $result i32)
    (local.set $failed
      (call $eval (local.get $at) (local.get $size) (i32.add (global.get $slots) (i32.const 4))))
    (if (local.get $failed)
      (then (drop (call $last_exception (i32.add (global.get $slots) (i32.const 4))))))
    (local.set $result
      (call $call (select (global.get $fail) (global.get $watch) (local.get $failed))
        (i32.load offset=4 (global.get $slots))))
    (if (i32.eqz (local.get $result)) (then (return (i64.const -1))))
    (call $free (local.get $result))
    (call $run))

  ;; Hand over answers, as a text at an address.
  (func (export "answer") (param $at i32) (param $size i32) (result i64)
    (local $result i32)
    (local.set $result (call $new_string (local.get $at) (local.get $size)))
    (if (i32.eqz (local.get $result)) (then (return (i64.const -1))))
    (local.set $result (call $call (global.get $take) (local.get $result)))
    (if (i32.eqz (local.get $result)) (then (return (i64.const -1))))
    (call $free (local.get $result))
    (call $run))

  ;; The text of the first argument of a call from the code.
  (func (export "argument") (param $arguments i32) (result i64)
    (if (call $get_string (i32.load (local.get $arguments))) (then (return (i64.const -1))))
    (i64.or
      (i64.shl (i64.extend_i32_u (call $text_at)) (i64.const 32))
      (i64.extend_i32_u (call $text_size)))))
