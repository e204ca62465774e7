/** A mime bundle: texts by mime type, and any JSON value for JSON types. */
export type MimeBundle = { [mimeType: string]: unknown };

export interface StreamOutput {
  output_type: 'stream';
  name: string;
  /** On disk a list of lines; a kernel may send either. */
  text: string | string[];
  [key: string]: unknown;
}

export interface DisplayDataOutput {
  output_type: 'display_data';
  data: MimeBundle;
  metadata: { [key: string]: unknown };
  [key: string]: unknown;
}

export interface ExecuteResultOutput {
  output_type: 'execute_result';
  data: MimeBundle;
  metadata: { [key: string]: unknown };
  execution_count: number | null;
  [key: string]: unknown;
}

export interface ErrorOutput {
  output_type: 'error';
  ename: string;
  evalue: string;
  traceback: string[];
  [key: string]: unknown;
}

/** An output object of nbformat 4.5; unknown keys are kept. */
export type Output = StreamOutput | DisplayDataOutput | ExecuteResultOutput | ErrorOutput;
