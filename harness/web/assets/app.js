// What pages do beyond links: tables sort and filter, readings filter, commands are copied, the live page
// follows, and in a file pages are unpacked. Every state is in the address.
"use strict";
(() => {
  const packed = document.getElementById("index");
  const main = document.getElementById("main");

  // The address is a path with a query: that of the server, or what follows # in a file.
  const address = () => {
    const whole = packed ? location.hash.slice(1) || "/" : location.pathname + location.search;
    const [path, query] = whole.split("?");
    return { path, query: new URLSearchParams(query || "") };
  };
  const setQuery = (query) => {
    const text = query.toString();
    const to = address().path + (text ? "?" + text : "");
    history.replaceState(history.state, "", packed ? "#" + to : to);
  };

  // Tables.
  const sortTable = (table, key, dir) => {
    const heads = [...table.querySelectorAll("[data-sort]")];
    heads.forEach((h) => h.removeAttribute("aria-sort"));
    table.original ||= [...table.tBodies].map((b) => [b, [...b.rows]]);
    table.original.forEach(([body, rows]) => body.append(...rows));
    const head = heads[key];
    if (!head) return;
    head.setAttribute("aria-sort", dir === "up" ? "ascending" : "descending");
    const value = (row) => row.cells[key].dataset.v;
    const rows = table.original.flatMap(([, rows]) => rows);
    const order = (a, b) => {
      const x = value(a), y = value(b);
      if (!x || !y) return !x - !y; // rows without a value come last
      const d = key === 0 ? x.localeCompare(y) : x - y;
      return dir === "up" ? d : -d;
    };
    table.tBodies[0].append(...rows.sort(order));
  };
  const startTable = (table) => {
    const tools = main.querySelector("[data-tools]");
    table.querySelectorAll("[data-sort] button").forEach((button, key) => {
      button.addEventListener("click", () => {
        const { query } = address();
        const same = query.get("sort") === String(key);
        const first = key === 0 ? "up" : "down";
        const next = !same ? first : query.get("dir") === first ? (first === "up" ? "down" : "up") : "";
        if (next) { query.set("sort", key); query.set("dir", next); } else { query.delete("sort"); query.delete("dir"); }
        setQuery(query);
        sortTable(table, next ? key : -1, next);
      });
    });
    const { query } = address();
    if (query.has("sort")) sortTable(table, Number(query.get("sort")), query.get("dir"));
    const boxes = (name) => [...tools.querySelectorAll(`[name=${name}]`)];
    tools.elements.q.value = query.get("q") || "";
    const off = (name) => query.getAll("no-" + name);
    ["set", "role"].forEach((name) => boxes(name).forEach((b) => { b.checked = !off(name).includes(b.value); }));
    boxes("only").forEach((b) => { b.checked = query.getAll("only").includes(b.value); });
    const apply = () => {
      const q = tools.elements.q.value.trim().toLowerCase();
      const no = (name) => boxes(name).filter((b) => !b.checked).map((b) => b.value);
      const sets = no("set"), roles = no("role"), only = boxes("only").filter((b) => b.checked).map((b) => b.value);
      table.querySelectorAll("[data-set]").forEach((c) => { c.hidden = sets.includes(c.dataset.set); });
      let shown = 0, all = 0;
      table.querySelectorAll("tbody tr").forEach((row) => {
        const marks = row.dataset.marks.split("|");
        row.hidden = !row.cells[0].textContent.toLowerCase().includes(q) || roles.includes(row.dataset.role) ||
          only.length > 0 && !only.some((m) => marks.includes(m));
        all++;
        shown += !row.hidden;
      });
      tools.querySelector("[data-count]").textContent = shown < all ? `${shown} of ${all} rows` : "";
    };
    tools.addEventListener("input", () => {
      const { query } = address();
      ["q", "no-set", "no-role", "only"].forEach((k) => query.delete(k));
      if (tools.elements.q.value) query.set("q", tools.elements.q.value);
      ["set", "role"].forEach((name) => boxes(name).forEach((b) => { if (!b.checked) query.append("no-" + name, b.value); }));
      boxes("only").forEach((b) => { if (b.checked) query.append("only", b.value); });
      setQuery(query);
      apply();
    });
    tools.addEventListener("submit", (e) => e.preventDefault());
    apply();
  };

  // Readings: choosing a value of a switch leaves the readings that have it.
  const startReadings = (sections) => {
    const apply = () => {
      const { query } = address();
      sections.forEach((section) => {
        const wanted = [];
        section.querySelectorAll("[data-switch]").forEach((select) => {
          select.value = query.get(select.name) ?? "";
          if (select.selectedIndex < 0) select.value = "";
          wanted[select.dataset.switch] = select.selectedOptions[0].dataset.index;
        });
        const readings = section.querySelectorAll("svg [data-key]");
        let shown = 0;
        readings.forEach((r) => {
          const choice = r.dataset.key.split(".");
          const on = wanted.every((w, i) => w === undefined || w === choice[i]);
          r.classList.toggle("off", !on);
          shown += on;
        });
        section.querySelector("[data-count]").textContent = shown < readings.length ? `${shown} of ${readings.length} readings` : "";
      });
    };
    sections.forEach((section) => {
      const form = section.querySelector("form");
      form.addEventListener("change", (e) => {
        const { query } = address();
        if (e.target.value) query.set(e.target.name, e.target.value); else query.delete(e.target.name);
        setQuery(query);
        apply();
      });
      form.addEventListener("reset", (e) => { e.preventDefault(); setQuery(new URLSearchParams()); apply(); });
      form.addEventListener("submit", (e) => e.preventDefault());
    });
    apply();
  };

  // A button copies its hash, or the command before it. If copying is not allowed, it selects the text.
  const startCopy = (button) => {
    const hash = button.dataset.copy;
    const from = hash ? button : button.previousElementSibling;
    const label = button.textContent;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(hash || from.textContent);
        button.textContent = "copied";
        setTimeout(() => { button.textContent = label; }, 1200);
      } catch {
        if (hash) button.textContent = hash;
        getSelection().selectAllChildren(from);
      }
    });
  };

  // The live page: the server sends it anew whenever the store has changed.
  let events = null;
  const follow = () => {
    const say = (text) => { const at = main.querySelector("[data-connection]"); if (at) at.textContent = text; };
    events = new EventSource("/live/events");
    events.onmessage = (e) => { main.innerHTML = JSON.parse(e.data); say("Following."); };
    events.onerror = () => say("The server is not there; trying again.");
  };

  const start = () => {
    main.querySelectorAll("[data-table]").forEach(startTable);
    const curves = main.querySelectorAll("[data-curve]");
    if (curves.length) startReadings([...curves]);
    main.querySelectorAll(".copy, [data-copy]").forEach(startCopy);
    if (main.querySelector("[data-live]") && !packed && !events) follow();
  };

  // A file: pages are packed in pieces, each unpacked when one of its pages is opened.
  if (packed) {
    const unpack = async (text) => {
      const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      return JSON.parse(await new Response(stream).text());
    };
    const pieces = new Map();
    const piece = (id) => {
      if (!pieces.has(id)) pieces.set(id, unpack(document.getElementById(id).textContent));
      return pieces.get(id);
    };
    const front = { title: document.title, body: main.innerHTML };
    const open = async () => {
      const { path } = address();
      if (path === "main") { main.hidden = false; main.focus(); return; } // the link that skips to the content
      let page = front, section = "/";
      if (path !== "/") {
        const at = (await piece("index"))[path];
        if (at === undefined) page = { title: "Not in this file", body: "<h1>Not in this file</h1><p>ssdl serve shows every page of a store.</p>" };
        else { page = (await piece("piece-" + at))[path]; section = page.section; }
      }
      if (address().path !== path) return; // another page was asked for meanwhile
      document.title = page.title;
      main.innerHTML = page.body;
      main.hidden = false;
      document.querySelectorAll(".top nav a").forEach((a) => {
        if (a.getAttribute("href") === "#" + section && !a.classList.contains("brand")) a.setAttribute("aria-current", "page");
        else a.removeAttribute("aria-current");
      });
      scrollTo(0, 0);
      main.focus({ preventScroll: true });
      main.dataset.path = path; // which page is shown
      start();
    };
    addEventListener("hashchange", () => { if (address().path !== main.dataset.path) open(); });
    main.dataset.path = "/";
    if (address().path === "/") start(); else { main.hidden = true; open(); }
    return;
  }
  start();
})();
